import { timingSafeEqual } from 'node:crypto'
import type { Hono, MiddlewareHandler } from 'hono'
import { callerOf, modelCallerOf } from './caller'
import type { Env } from './env'
import { hashOf } from '../auth/api-key'
import type { Permission } from '../auth/principal'
import { ApiError } from '../errors'
import type { Door } from '../policy/door'

type Guard = MiddlewareHandler<Env>

/**
 * Who may call a route, and what counts its requests: the caller's own limits, the rate of `/api` for
 * each account, that of `/api/public` for each address; operators and what is open are not counted.
 */
type Class = 'models' | 'api' | 'public' | 'operator' | 'open'

/** What routes below a path must be; the first that fits counts. */
const classOf: readonly (readonly [RegExp, Class])[] = [
  [/^\/v1\//, 'models'],
  [/^\/api\/admin\//, 'operator'],
  [/^\/api\/public\//, 'public'],
  // They authenticate by a session that is being made, and by a signature. Source: api.md 20.
  [/^\/api\/(auth|webhooks)\//, 'open'],
  [/^\/api\//, 'api'],
  [/^\//, 'open'],
]

const known = new WeakMap<object, Class>()

function marked<Handler extends object>(is: Class, handler: Handler): Handler {
  known.set(handler, is)
  return handler
}

/** Marks a handler of a model endpoint, which decides itself who may call it. */
export const guarded = <Handler extends object>(handler: Handler) => marked('models', handler)

/** Who may call a route. Every route names one that fits its path, or the server does not start. */
export interface Guards {
  /** `/v1`: a service key with a permission; counts the request in the limits of its caller. */
  key: (permission: Permission) => Guard
  /** `/api`: the same, with the rate of `/api`. */
  account: (permission: Permission) => Guard
  /** `/api/public`: anybody, with a rate for each client address. */
  public: Guard
  /** `/api/admin`: the operator key; to everybody else the path does not exist. */
  operator: Guard
  /** Anybody, as often as they like. */
  open: Guard
}

const bytesOf = (hash: string) => Buffer.from(hash, 'hex')

export function createGuards(door: Door, adminKey: string): Guards {
  const operatorHash = bytesOf(hashOf(adminKey))
  return {
    key: (permission) =>
      marked('models', async (c, next) => {
        c.set('principal', await door.enterCounted(modelCallerOf(c), permission))
        await next()
      }),
    account: (permission) =>
      marked('api', async (c, next) => {
        c.set('principal', await door.enterApi(callerOf(c), permission))
        await next()
      }),
    public: marked('public', (c, next) => {
      door.visit(callerOf(c))
      return next()
    }),
    operator: marked('operator', async (c, next) => {
      const [, key = ''] = /^bearer\s+(\S+)$/i.exec(c.req.header('authorization') ?? '') ?? []
      // Hashes have one length, so that the comparison tells nothing about the key's.
      if (!timingSafeEqual(bytesOf(hashOf(key)), operatorHash)) {
        throw new ApiError('resource_not_found')
      }
      await next()
    }),
    open: marked('open', (_c, next) => next()),
  }
}

/** Throws when a route has no guard, or one that is not for its path. */
export function assertGuarded(app: Hono<Env>): void {
  const handlers = Map.groupBy(
    app.routes.filter(({ method }) => method !== 'ALL'),
    ({ method, path }) => `${method} ${path}`,
  )
  const wrong = [...handlers].filter(([, routes]) => {
    const path = routes[0]?.path ?? ''
    const [, wanted] = classOf.find(([pattern]) => pattern.test(path)) ?? []
    const found = routes.flatMap(({ handler }) => known.get(handler) ?? [])
    return found.length === 0 || found.some((is) => is !== wanted)
  })
  if (wrong.length === 0) return
  throw new Error(`routes without their guard: ${wrong.map(([name]) => name).join(', ')}`)
}
