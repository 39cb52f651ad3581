import type { Context } from 'hono'
import type { Env } from './env'
import type { Caller } from '../policy/door'

/** Who sent a request, as the door asks for it. */
export const callerOf = (c: Context<Env>): Caller => ({
  authorization: c.req.raw.headers.get('authorization'),
  address: () => c.env.server.requestIP(c.req.raw)?.address ?? '',
  tell: (quota) => c.set('quota', quota),
})
