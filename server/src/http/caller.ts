import type { Context } from 'hono'
import type { Env } from './env'
import type { Credentialed } from '../auth/authenticator'

/**
 * Reads the key of a model request. Anthropic's clients send the bare key in `x-api-key`; a bearer token takes
 * precedence.
 */
export function readModelKey({ headers }: Request): string | null {
  const authorization = headers.get('authorization')
  const key = headers.get('x-api-key')
  return key && !/^bearer\s/i.test(authorization ?? '') ? `Bearer ${key}` : authorization
}

/** Reads the caller of a model endpoint: the key may be in either of two headers. */
export function readModelCaller(c: Context<Env>): Credentialed {
  const caller = callerOf(c)
  caller.authorization = readModelKey(c.req.raw)
  return caller
}

/** Returns the credentials of a request, for the authenticator. */
export const callerOf = (c: Context<Env>): Credentialed => ({
  authorization: c.req.raw.headers.get('authorization'),
  address: () => c.env.server.requestIP(c.req.raw)?.address ?? '',
  reportQuota: (quota) => c.set('quota', quota),
})
