import type { Exposition } from './exposition'
import { StartError } from '../platform/config/config'
import { withTimeout } from '../platform/with-timeout'

interface Options {
  port: number
  host: string
  exposition: Exposition
  /** Returns whether the process should get requests, and the state of each part by name. */
  readiness: () => Promise<{ isReady: boolean; checks: Record<string, boolean> }>
  onError: (error: unknown) => void
}

const idleSeconds = 30
const maxAnswerMs = 5000
const text = { 'content-type': 'text/plain; charset=utf-8' }

/**
 * Starts the operator's listener: `/metrics`, `/healthz` and `/readyz`. It authenticates no one, so it must not be
 * reachable for clients. Throws `StartError` where it cannot listen.
 */
export function listenInternally(options: Options): Bun.Server<undefined> {
  const { port, host: hostname } = options
  try {
    return Bun.serve({
      port,
      hostname,
      idleTimeout: idleSeconds,
      // Clients send no bodies here.
      maxRequestBodySize: 1024,
      development: false,
      // Else two processes would share the port, and each scrape would reach one of them by chance.
      reusePort: false,
      fetch: (request) => answer(request, options),
      error: (thrown) => failed(thrown, options),
    })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'unknown error'
    throw new StartError(
      `${hostname}:${port} cannot be opened for metrics: ${why}. Set METRICS_HOST and METRICS_PORT.`,
      { cause },
    )
  }
}

function failed(thrown: unknown, { onError }: Options): Response {
  onError(thrown)
  return new Response('Failed; the log says why.\n', { status: 500, headers: text })
}

async function answer(request: Request, options: Options): Promise<Response> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return new Response('Only GET.\n', { status: 405, headers: { ...text, allow: 'GET, HEAD' } })
  }
  switch (URL.parse(request.url)?.pathname) {
    case '/metrics':
      return metrics(options.exposition)
    case '/healthz':
      return Response.json({ status: 'ok' })
    case '/readyz': {
      const { isReady, checks } = await options.readiness()
      const status = isReady ? 'ready' : 'not_ready'
      return Response.json({ status, checks }, { status: isReady ? 200 : 503 })
    }
    default:
      return new Response('/metrics, /healthz, /readyz\n', { status: 404, headers: text })
  }
}

const whenSlow = { late: () => new Error('metrics took too long') }

async function metrics({ contentType, write }: Exposition): Promise<Response> {
  const body = await withTimeout(write(), maxAnswerMs, whenSlow)
  return new Response(body, { headers: { 'content-type': contentType } })
}
