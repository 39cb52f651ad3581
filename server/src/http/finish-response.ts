import type { Logger } from 'pino'
import { announceKeepAlive } from './keep-alive'
import { Shed } from './overload'
import { renderError, toRendered } from './render'
import { getErrorFormat } from './error-format'
import { errors, reportQuota, type ApiError, type RateLimitQuota } from '../errors'
import { ClientDisconnected } from '../wire/chunk-stream'

/** A request whose response is about to be sent. */
export interface FinishedExchange {
  request: Request
  requestId: string
  /** Monotonic milliseconds. */
  startedAtMs: number
  /** The caller's rate limit status; undefined without limits, or while the caller is unknown. */
  quota: RateLimitQuota | undefined
  path: string
  /** Of a request to a model: the time spent waiting for a provider, in milliseconds. */
  readonly waitedMs?: number
  /** Whether a log line follows when the request ends; then its response has none. */
  readonly hasLog?: boolean | undefined
}

/** Observes responses, for metrics and logs. */
export interface RequestObserver {
  log: Logger
  logsRequests: boolean
  counts: {
    countAnswer: (exchange: FinishedExchange, status: number, durationMs: number) => void
    countError: (error: ApiError) => void
  }
}

/** Finishes every response: sets its headers, and logs it. */
export function finish(
  response: Response,
  exchange: FinishedExchange,
  witness: RequestObserver,
): void {
  const { requestId, startedAtMs, quota } = exchange
  const { log, logsRequests, counts } = witness
  const durationMs = performance.now() - startedAtMs
  const { headers } = response
  // A replayed response keeps the id of the first request.
  if (!headers.has('x-request-id')) headers.set('x-request-id', requestId)
  headers.set('openai-processing-ms', String(Math.round(durationMs)))
  announceKeepAlive(headers)
  // A 429 already reports the limit that was exceeded.
  if (quota && response.status !== 429) reportQuota(headers, quota)
  counts.countAnswer(exchange, response.status, durationMs)
  if (!logsRequests || exchange.hasLog || !log.isLevelEnabled('info')) return
  log.info(lineOf(response, exchange, durationMs))
}

/** Returns the log line of a request. */
function lineOf(
  { status }: Response,
  { request, requestId, path }: FinishedExchange,
  durationMs: number,
) {
  return {
    requestId,
    method: request.method,
    path: path.slice(0, 300),
    status,
    ms: Math.round(durationMs * 10) / 10,
  }
}

/** Renders a thrown value; faults of the server are logged. */
export function finishFailed(
  thrown: unknown,
  { request, requestId }: Pick<FinishedExchange, 'request' | 'requestId'>,
  { log, counts }: Pick<RequestObserver, 'log' | 'counts'>,
): Response {
  // The client has disconnected; the log has the status that proxies use.
  if (thrown instanceof ClientDisconnected) return new Response(null, { status: 499 })
  const error = toRendered(thrown)
  counts.countError(error)
  if (error.status >= 500 && !(error instanceof Shed)) {
    // A provider's error may repeat the prompt, which belongs to the caller and to its request log only.
    log.error({ requestId, code: error.code, err: error.cause }, errors[error.code].message)
  }
  return renderError(error, requestId, getErrorFormat(request))
}
