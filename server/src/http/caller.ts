import type { Context } from 'hono'
import type { Env } from './env'
import type { Credentialed } from '../policy/authenticator'

/** Clients of Anthropic's send the bare key by itself. A bearer token counts before it. */
export function readModelKey({ headers }: Request): string | null {
  const authorization = headers.get('authorization')
  const key = headers.get('x-api-key')
  return key && !/^bearer\s/i.test(authorization ?? '') ? `Bearer ${key}` : authorization
}

/** Who asks a model endpoint: the key may come in either of two headers. */
export function readModelCaller(c: Context<Env>): Credentialed {
  const caller = callerOf(c)
  caller.authorization = readModelKey(c.req.raw)
  return caller
}

/** Who sent a request, as the door asks for it. */
export const callerOf = (c: Context<Env>): Credentialed => ({
  authorization: c.req.raw.headers.get('authorization'),
  address: () => c.env.server.requestIP(c.req.raw)?.address ?? '',
  tell: (quota) => c.set('quota', quota),
})
