import { timingSafeEqual } from 'node:crypto'
import type { Hono, MiddlewareHandler } from 'hono'
import { callerOf } from './caller'
import type { Env } from './env'
import { hashOf } from '../auth/api-key'
import type { Permission } from '../auth/principal'
import { ApiError } from '../errors'
import type { Door } from '../policy/door'

type Guard = MiddlewareHandler<Env>

const known = new WeakSet<object>()

/** Marks a handler as one that decides itself who may call it. */
export function guarded<Handler extends object>(handler: Handler): Handler {
  known.add(handler)
  return handler
}

/** Who may call a route. Every route names one, or the server does not start. */
export interface Guards {
  /** A service key with a permission; counts the request. */
  key: (permission: Permission) => Guard
  /** The operator key; to everybody else the path does not exist. */
  operator: Guard
  /** Anybody. */
  open: Guard
}

const bytesOf = (hash: string) => Buffer.from(hash, 'hex')

export function createGuards(door: Door, adminKey: string): Guards {
  const operatorHash = bytesOf(hashOf(adminKey))
  return {
    key: (permission) =>
      guarded(async (c, next) => {
        c.set('principal', await door.enterCounted(callerOf(c), permission))
        await next()
      }),
    operator: guarded(async (c, next) => {
      const [, key = ''] = /^bearer\s+(\S+)$/i.exec(c.req.header('authorization') ?? '') ?? []
      // Hashes have one length, so that the comparison tells nothing about the key's.
      if (!timingSafeEqual(bytesOf(hashOf(key)), operatorHash)) {
        throw new ApiError('resource_not_found')
      }
      await next()
    }),
    open: guarded((_c, next) => next()),
  }
}

/** Throws when a route has no guard. */
export function assertGuarded(app: Hono<Env>): void {
  const handlers = Map.groupBy(
    app.routes.filter(({ method }) => method !== 'ALL'),
    ({ method, path }) => `${method} ${path}`,
  )
  const open = [...handlers].filter(
    ([, routes]) => !routes.some((route) => known.has(route.handler)),
  )
  if (open.length === 0) return
  throw new Error(`routes without a guard: ${open.map(([name]) => name).join(', ')}`)
}
