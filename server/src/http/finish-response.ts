import type { Logger } from 'pino'
import { Shed } from './overload'
import { renderError, toRendered } from './render'
import { getErrorFormat } from './error-format'
import { errors, reportQuota, type ApiError, type RateLimitQuota } from '../errors'
import { ClientGone } from '../wire/chunk-stream'

/** A request whose answer is about to go out. */
export interface FinishedExchange {
  request: Request
  requestId: string
  /** Monotonic milliseconds. */
  startedAtMs: number
  /** Where the caller stands with his limits; undefined where he has none, or is not known. */
  quota: RateLimitQuota | undefined
  path: string
  /** Of a request to a model: for how much of its time a provider was waited for, in milliseconds. */
  readonly waitedMs?: number
  /** It gets a line in the log when it ends. */
  readonly hasLog?: boolean | undefined
}

/** Who is told of answers. */
export interface RequestObserver {
  log: Logger
  logsRequests: boolean
  counts: {
    answered: (exchange: FinishedExchange, status: number, tookMs: number) => void
    failed: (error: ApiError) => void
  }
}

/** What every answer gets: its headers, and a line in the log. */
export function finish(
  response: Response,
  exchange: FinishedExchange,
  witness: RequestObserver,
): void {
  const { requestId, startedAtMs, quota } = exchange
  const { log, logsRequests, counts } = witness
  const tookMs = performance.now() - startedAtMs
  const { headers } = response
  // A replayed answer has the id of the first.
  if (!headers.has('x-request-id')) headers.set('x-request-id', requestId)
  headers.set('openai-processing-ms', String(Math.round(tookMs)))
  // A 429 has told already which limit refused.
  if (quota && response.status !== 429) reportQuota(headers, quota)
  counts.answered(exchange, response.status, tookMs)
  if (!logsRequests || exchange.hasLog || !log.isLevelEnabled('info')) return
  log.info(lineOf(response, exchange, tookMs))
}

/** One line a request. */
function lineOf(
  { status }: Response,
  { request, requestId, path }: FinishedExchange,
  tookMs: number,
) {
  return {
    requestId,
    method: request.method,
    path: path.slice(0, 300),
    status,
    ms: Math.round(tookMs * 10) / 10,
  }
}

/** The answer for what was thrown; what is our fault is logged. */
export function finishFailed(
  thrown: unknown,
  { request, requestId }: Pick<FinishedExchange, 'request' | 'requestId'>,
  { log, counts }: Pick<RequestObserver, 'log' | 'counts'>,
): Response {
  // Nobody is left to read it; for the log, by the number that proxies use.
  if (thrown instanceof ClientGone) return new Response(null, { status: 499 })
  const error = toRendered(thrown)
  counts.failed(error)
  if (error.status >= 500 && !(error instanceof Shed)) {
    // What a provider said may repeat what it was asked: that is its caller's, in the request log.
    log.error({ requestId, code: error.code, err: error.cause }, errors[error.code].message)
  }
  return renderError(error, requestId, getErrorFormat(request))
}
