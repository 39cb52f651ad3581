import type { MiddlewareHandler } from 'hono'
import type { Env } from './env'

const exposed = [
  'x-request-id',
  'request-id',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-tollgate-cost',
  'x-tollgate-omitted',
  'x-tollgate-max-tokens',
  'x-tollgate-provider',
  'x-idempotent-replay',
  'openai-processing-ms',
].join(', ')

const vary = 'Origin, Access-Control-Request-Headers'

/**
 * Allows any origin, no cookies, and all requested headers: client libraries in browsers add their own. A
 * preflight is 200 without a key, as 204 is not among the contract's statuses. Source: contract 1.9.
 */
export const allowAnyOrigin: MiddlewareHandler<Env> = async (c, next) => {
  if (c.req.method === 'OPTIONS') {
    const requestedHeaders = c.req.header('access-control-request-headers')
    return new Response(null, {
      headers: {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, POST, HEAD, OPTIONS',
        'access-control-allow-headers': requestedHeaders ?? 'Authorization, Content-Type',
        'access-control-max-age': '86400',
        'access-control-expose-headers': exposed,
        vary,
      },
    })
  }
  await next()
  allowOrigin(c.req.raw, c.res)
  return undefined
}

/** Only browsers send an origin, and only they read this header of the answer. */
export function allowOrigin(request: Request, { headers }: Response): void {
  if (!request.headers.has('origin')) return
  headers.set('access-control-allow-origin', '*')
  headers.set('access-control-expose-headers', exposed)
  headers.append('vary', vary)
}
