import type { Context, Hono, MiddlewareHandler } from 'hono'
import { modelKey, open, type Access, type AccessClass } from './access'
import { callerOf, readModelCaller } from './caller'
import type { Env } from './env'
import { authenticateOperator, reading, type OperatorPorts } from './operator'
import { assertSameOrigin, hasKey } from './session'
import type { Permission, Principal } from '../auth/principal'
import type { Authenticator } from '../auth/authenticator'
import { actorContext, type Actor } from '../audit-log/actor-context'

type Guard = MiddlewareHandler<Env>

/** The class of routes below a path; the first match applies. */
const classOf: readonly (readonly [RegExp, AccessClass])[] = [
  [/^\/v[12]\//, 'models'],
  [/^\/api\/admin\//, 'operator'],
  [/^\/api\/public\//, 'public'],
  // Authenticated by a session that is being created, and by a signature. Source: contract 2.5, 9.4.
  [/^\/api\/(auth|webhooks)\//, 'open'],
  [/^\/api\//, 'api'],
  [/^\//, 'open'],
]

const accessByHandler = new WeakMap<object, Access>()

function marked<Handler extends object>(access: Access, handler: Handler): Handler {
  accessByHandler.set(handler, access)
  return handler
}

/** Marks a handler of a model endpoint, which checks access itself. */
export const guarded = <Handler extends object>(handler: Handler) =>
  marked(modelKey('write'), handler)

/** Guards of routes. Every route has one that fits its path, or the server does not start. */
export interface Guards {
  /** The guard of an access. */
  for: (access: Access) => Guard
  /** The guard of routes without authentication and rate limit. */
  open: Guard
}

/** The actor of a change, for the audit logs of organizations. */
const actorOf = (c: Context<Env>): Actor => ({
  id: c.var.principal.userId,
  keyId: c.var.principal.keyId,
  requestId: c.get('requestId'),
  clientAddress: c.env.server.requestIP(c.req.raw)?.address ?? null,
})

export interface GuardPorts extends Omit<OperatorPorts, 'authenticator'> {
  authenticator: Authenticator
}

/** Authenticates a request to `/api` by its key or its session. */
async function authenticateForApi(
  { authenticator, sessions }: GuardPorts,
  c: Context<Env>,
  permission: Permission,
): Promise<Principal> {
  const { raw } = c.req
  if (hasKey(raw)) return authenticator.authenticateForApi(callerOf(c), permission)
  const session = await sessions.signedIn(raw.headers)
  // A caller with neither key nor session gets the error of a missing key.
  if (!session) return authenticator.authenticateForApi(callerOf(c), permission)
  assertSameOrigin(raw)
  return authenticator.authenticateSignedIn(session.principal, callerOf(c), permission)
}

export function createGuards(ports: GuardPorts): Guards {
  const { authenticator } = ports
  const enterAsOperator = authenticateOperator(ports)

  function guardOf(access: Access): Guard {
    switch (access.class) {
      case 'models':
        return async (c, next) => {
          c.set(
            'principal',
            await authenticator.authenticateAndCount(readModelCaller(c), access.permission),
          )
          await next()
        }
      case 'api':
        return async (c, next) => {
          c.set('principal', await authenticateForApi(ports, c, access.permission))
          return reading.has(c.req.method) ? next() : actorContext.run(actorOf(c), next)
        }
      case 'operator':
        return enterAsOperator(access)
      case 'public':
        return (c, next) => {
          authenticator.admitAnonymous(callerOf(c))
          return next()
        }
      default:
        return (_c, next) => next()
    }
  }

  function guardFor(access: Access): Guard {
    const guard = guardOf(access)
    return marked(access, (c, next) => {
      c.set('bodyBytes', access.bodyBytes ?? 0)
      return guard(c, next)
    })
  }
  return { for: guardFor, open: guardFor(open) }
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
    const access = routes.flatMap(({ handler }) => accessByHandler.get(handler) ?? [])
    return [{ method: route.method, path: route.path, access }]
  })

/** Throws when a route has no guard, or one that is not for its path. */
export function assertGuarded(app: Hono<Env>): void {
  const wrong = registryOf(app).filter(({ path, access }) => {
    const [, requiredClass] = classOf.find(([pattern]) => pattern.test(path)) ?? []
    return access.length === 0 || access.some((one) => one.class !== requiredClass)
  })
  if (wrong.length === 0) return
  const names = wrong.map(({ method, path }) => `${method} ${path}`)
  throw new Error(`routes without their guard: ${names.join(', ')}`)
}
