import type { Context, Hono, MiddlewareHandler } from 'hono'
import { callerOf, modelCallerOf } from './caller'
import type { Env } from './env'
import { enterOperator, reading, type OperatorPorts } from './operator'
import { assertSameOrigin, hasKey } from './session'
import type { Permission, Principal } from '../auth/principal'
import type { Door } from '../policy/door'
import { acting, type Actor } from '../trail/acting'

type Guard = MiddlewareHandler<Env>

/**
 * Who may call a route, and what counts its requests: the caller's own limits, the rate of `/api` for
 * each account, that of `/api/public` for each address; operators and what is open are not counted.
 */
type Class = 'models' | 'api' | 'public' | 'operator' | 'open'

/**
 * Whose objects a route gives out or changes: those of the calling account, those and the ones of
 * organizations by the caller's membership and role, everybody's, or nobody's.
 */
export type Tenant = 'account' | 'organization' | 'all' | 'none'

/** What a route says about who may call it, and how much a call may bring. */
export interface Access {
  class: Class
  tenant: Tenant
  /** Of the key; absent where none is asked for, and for operators. */
  permission?: Permission
  /** The most that a body may have; of a model endpoint its stage says it (`gateway/job.ts`). */
  bodyBytes?: number
}

const megabyte = 1024 * 1024

/** What a body may have. Source: contract 1.1. */
const bodyBytes = { usual: 64 * 1024, larger: megabyte, bulk: 8 * megabyte }

/** What routes below a path must be; the first that fits counts. */
const classOf: readonly (readonly [RegExp, Class])[] = [
  [/^\/v1\//, 'models'],
  [/^\/api\/admin\//, 'operator'],
  [/^\/api\/public\//, 'public'],
  // They authenticate by a session that is being made, and by a signature. Source: contract 2.5, 9.4.
  [/^\/api\/(auth|webhooks)\//, 'open'],
  [/^\/api\//, 'api'],
  [/^\//, 'open'],
]

const known = new WeakMap<object, Access>()

function marked<Handler extends object>(access: Access, handler: Handler): Handler {
  known.set(handler, access)
  return handler
}

/** Marks a handler of a model endpoint, which decides itself who may call it. */
export const guarded = <Handler extends object>(handler: Handler) =>
  marked({ class: 'models', tenant: 'account', permission: 'write' }, handler)

/** Who may call a route. Every route names one that fits its path, or the server does not start. */
export interface Guards {
  /** `/v1`: a service key with a permission; counts the request in the limits of its caller. */
  key: (permission: Permission) => Guard
  /** `/api`: the same, with the rate of `/api`; bodies are `usual` unless said. */
  account: (permission: Permission, tenant: Tenant, body?: keyof typeof bodyBytes) => Guard
  /** `/api/public`: anybody, with a rate for each client address. */
  public: Guard
  /** `/api/admin`: the operator key; to everybody else the path does not exist. */
  operator: Guard
  /** The same, for a body that holds a document. */
  operatorBulk: Guard
  /** Anybody, as often as they like. */
  open: Guard
}

/** Who changes something, for the trails of organizations. */
const actorOf = (c: Context<Env>): Actor => ({
  id: c.var.principal.userId,
  keyId: c.var.principal.keyId,
  requestId: c.get('requestId'),
  clientAddress: c.env.server.requestIP(c.req.raw)?.address ?? null,
})

export interface GuardPorts extends Omit<OperatorPorts, 'door'> {
  door: Door
}

export function createGuards({ door, ...operating }: GuardPorts): Guards {
  const { sessions } = operating
  const enterAsOperator = enterOperator({ door, ...operating })

  async function enterApi(c: Context<Env>, permission: Permission): Promise<Principal> {
    const { raw } = c.req
    if (hasKey(raw)) return door.enterApi(callerOf(c), permission)
    const found = await sessions.signedIn(raw.headers)
    // Tells who has no key either what is missing.
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
        c.set('principal', await door.enterCounted(modelCallerOf(c), permission))
        await next()
      }),
    account: (permission, tenant, body = 'usual') => {
      const most = bodyBytes[body]
      return marked({ class: 'api', tenant, permission, bodyBytes: most }, async (c, next) => {
        c.set('bodyBytes', most)
        c.set('principal', await enterApi(c, permission))
        return reading.has(c.req.method) ? next() : acting.run(actorOf(c), next)
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

/** A route, and what it says of itself. */
export interface Registered {
  method: string
  path: string
  access: Access[]
}

/** All routes of an application, each with every guard that it has. */
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
