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
 * Any origin, no cookies, whatever headers are asked for: client libraries in browsers add their
 * own. A preflight is 200 without a key, as 204 is none of our statuses. Source: contract 1.9.
 */
export const allowAnyOrigin: MiddlewareHandler<Env> = async (c, next) => {
  if (c.req.method === 'OPTIONS') {
    const asked = c.req.header('access-control-request-headers')
    return new Response(null, {
      headers: {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, POST, HEAD, OPTIONS',
        'access-control-allow-headers': asked ?? 'Authorization, Content-Type',
        'access-control-max-age': '86400',
        'access-control-expose-headers': exposed,
        vary,
      },
    })
  }
  await next()
  tellOrigin(c.req.raw, c.res)
  return undefined
}

/** Only browsers say where they come from, and only they read the answer to it. */
export function tellOrigin(request: Request, { headers }: Response): void {
  if (!request.headers.has('origin')) return
  headers.set('access-control-allow-origin', '*')
  headers.set('access-control-expose-headers', exposed)
  headers.append('vary', vary)
}
