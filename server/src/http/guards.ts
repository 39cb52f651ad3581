import type { Context, Hono, MiddlewareHandler } from 'hono'
import { callerOf, readModelCaller } from './caller'
import type { Env } from './env'
import { authenticateOperator, reading, type OperatorPorts } from './operator'
import { assertSameOrigin, hasKey } from './session'
import type { Permission, Principal } from '../auth/principal'
import type { Authenticator } from '../auth/authenticator'
import { actorContext, type Actor } from '../audit-log/actor-context'

type Guard = MiddlewareHandler<Env>

/**
 * The access class of a route: its permitted callers, and the counter of its requests: the caller's own limits, the
 * rate limit of `/api` for each account, that of `/api/public` for each address; operator and open routes are not
 * counted.
 */
type Class = 'models' | 'api' | 'public' | 'operator' | 'open'

/**
 * The owners of the objects that a route reads or changes: the calling account, that and its organizations by
 * membership and role, all, or none.
 */
export type Tenant = 'account' | 'organization' | 'all' | 'none'

/** The access to a route, and its body limit. */
export interface Access {
  class: Class
  tenant: Tenant
  /** The key's permission; absent for routes without a key, and for operators. */
  permission?: Permission
  /** The body limit; model endpoints have theirs in `gateway/request.ts`. */
  bodyBytes?: number
}

const megabyte = 1024 * 1024

/** Body limits. Source: contract 1.1. */
const bodyBytes = { usual: 64 * 1024, larger: megabyte, bulk: 8 * megabyte }

/** The class of routes below a path; the first match applies. */
const classOf: readonly (readonly [RegExp, Class])[] = [
  [/^\/v1\//, 'models'],
  [/^\/api\/admin\//, 'operator'],
  [/^\/api\/public\//, 'public'],
  // Authenticated by a session that is being created, and by a signature. Source: contract 2.5, 9.4.
  [/^\/api\/(auth|webhooks)\//, 'open'],
  [/^\/api\//, 'api'],
  [/^\//, 'open'],
]

const known = new WeakMap<object, Access>()

function marked<Handler extends object>(access: Access, handler: Handler): Handler {
  known.set(handler, access)
  return handler
}

/** Marks a handler of a model endpoint, which checks access itself. */
export const guarded = <Handler extends object>(handler: Handler) =>
  marked({ class: 'models', tenant: 'account', permission: 'write' }, handler)

/** Guards of routes. Every route has one that fits its path, or the server does not start. */
export interface Guards {
  /** `/v1`: a service key with a permission; counts the request in the limits of its caller. */
  key: (permission: Permission) => Guard
  /** `/api`: a key or a session, with the rate limit of `/api`; bodies are `usual` by default. */
  account: (permission: Permission, tenant: Tenant, body?: keyof typeof bodyBytes) => Guard
  /** `/api/public`: no authentication, with a rate limit for each client address. */
  public: Guard
  /** `/api/admin`: the operator key or an operator's session; for all other callers the path does not exist. */
  operator: Guard
  /** As `operator`, for a body that is a document. */
  operatorBulk: Guard
  /** No authentication and no rate limit. */
  open: Guard
}

/** The actor of a change, for the audit logs of organizations. */
const actorOf = (c: Context<Env>): Actor => ({
  id: c.var.principal.userId,
  keyId: c.var.principal.keyId,
  requestId: c.get('requestId'),
  clientAddress: c.env.server.requestIP(c.req.raw)?.address ?? null,
})

export interface GuardPorts extends Omit<OperatorPorts, 'door'> {
  door: Authenticator
}

export function createGuards({ door, ...operating }: GuardPorts): Guards {
  const { sessions } = operating
  const enterAsOperator = authenticateOperator({ door, ...operating })

  async function enterApi(c: Context<Env>, permission: Permission): Promise<Principal> {
    const { raw } = c.req
    if (hasKey(raw)) return door.enterApi(callerOf(c), permission)
    const found = await sessions.signedIn(raw.headers)
    // A caller with neither key nor session gets the error of a missing key.
    if (!found) return door.enterApi(callerOf(c), permission)
    assertSameOrigin(raw)
    return door.enterSignedIn(found.principal, callerOf(c), permission)
  }

  const operatorWith = (body: keyof typeof bodyBytes): Guard => {
    const most = bodyBytes[body]
    return marked({ class: 'operator', tenant: 'all', bodyBytes: most }, (c, next) => {
      c.set('bodyBytes', most)
      return enterAsOperator(c, next)
    })
  }

  return {
    key: (permission) =>
      marked({ class: 'models', tenant: 'account', permission }, async (c, next) => {
        c.set('principal', await door.enterCounted(readModelCaller(c), permission))
        await next()
      }),
    account: (permission, tenant, body = 'usual') => {
      const most = bodyBytes[body]
      return marked({ class: 'api', tenant, permission, bodyBytes: most }, async (c, next) => {
        c.set('bodyBytes', most)
        c.set('principal', await enterApi(c, permission))
        return reading.has(c.req.method) ? next() : actorContext.run(actorOf(c), next)
      })
    },
    public: marked({ class: 'public', tenant: 'none', bodyBytes: 0 }, (c, next) => {
      door.visit(callerOf(c))
      return next()
    }),
    operator: operatorWith('usual'),
    operatorBulk: operatorWith('bulk'),
    open: marked({ class: 'open', tenant: 'none', bodyBytes: 0 }, (_c, next) => next()),
  }
}

/** A route, with its declared access. */
export interface Registered {
  method: string
  path: string
  access: Access[]
}

/** Lists all routes of an application, each with all of its guards. */
export const registryOf = (app: Hono<Env>): Registered[] =>
  [
    ...Map.groupBy(
      app.routes.filter(({ method }) => method !== 'ALL'),
      ({ method, path }) => `${method} ${path}`,
    ).values(),
  ].flatMap((routes) => {
    const [route] = routes
    if (!route) return []
    const access = routes.flatMap(({ handler }) => known.get(handler) ?? [])
    return [{ method: route.method, path: route.path, access }]
  })

/** Throws when a route has no guard, or one that is not for its path. */
export function assertGuarded(app: Hono<Env>): void {
  const wrong = registryOf(app).filter(({ path, access }) => {
    const [, wanted] = classOf.find(([pattern]) => pattern.test(path)) ?? []
    return access.length === 0 || access.some((one) => one.class !== wanted)
  })
  if (wrong.length === 0) return
  const names = wrong.map(({ method, path }) => `${method} ${path}`)
  throw new Error(`routes without their guard: ${names.join(', ')}`)
}
