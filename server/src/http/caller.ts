import type { Context } from 'hono'
import type { Env } from './env'
import type { Caller } from '../policy/door'

/** Clients of Anthropic's send the bare key by itself. A bearer token counts before it. */
export function modelKeyOf({ headers }: Request): string | null {
  const authorization = headers.get('authorization')
  const key = headers.get('x-api-key')
  return key && !/^bearer\s/i.test(authorization ?? '') ? `Bearer ${key}` : authorization
}

/** Who asks a model endpoint: the key may come in either of two headers. */
export function modelCallerOf(c: Context<Env>): Caller {
  const caller = callerOf(c)
  caller.authorization = modelKeyOf(c.req.raw)
  return caller
}

/** Who sent a request, as the door asks for it. */
export const callerOf = (c: Context<Env>): Caller => ({
  authorization: c.req.raw.headers.get('authorization'),
  address: () => c.env.server.requestIP(c.req.raw)?.address ?? '',
  tell: (quota) => c.set('quota', quota),
})
