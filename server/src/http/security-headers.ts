import type { MiddlewareHandler } from 'hono'
import type { Env } from './env'

/** What is no page loads nothing, is shown in no frame, and is what its type says. */
const always = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
}

/**
 * Tells browsers what an answer may do; pages say more themselves. What is below `/v1` is read by programs
 * and has the headers of its contract alone.
 */
export const securityHeaders: MiddlewareHandler<Env> = async (c, next) => {
  await next()
  if (c.req.path.startsWith('/v1/')) return
  const { headers } = c.res
  for (const [name, value] of Object.entries(always)) {
    if (!headers.has(name)) headers.set(name, value)
  }
  // An answer of an account's may hold what only it may see, and a key that is shown once.
  const isKept = headers.has('cache-control') || !c.req.path.startsWith('/api/')
  if (!isKept) headers.set('cache-control', 'no-store')
}
