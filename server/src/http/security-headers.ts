import type { MiddlewareHandler } from 'hono'
import type { Env } from './env'

/** Headers of responses outside of `/v1`: no resources, no frames, no content sniffing; pages override them. */
const always = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
}

/**
 * Sets security headers; pages set wider ones themselves. Paths below `/v1` are read by programs and have only the
 * headers of the contract.
 */
export const securityHeaders: MiddlewareHandler<Env> = async (c, next) => {
  await next()
  if (/^\/v[12]\//.test(c.req.path)) return
  const { headers } = c.res
  for (const [name, value] of Object.entries(always)) {
    if (!headers.has(name)) headers.set(name, value)
  }
  // A response may contain private data of an account, and a key that is shown once.
  const hasCachePolicy = headers.has('cache-control') || !c.req.path.startsWith('/api/')
  if (!hasCachePolicy) headers.set('cache-control', 'no-store')
}
