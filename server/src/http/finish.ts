import type { Logger } from 'pino'
import { pathOf } from './path'
import { renderError, toRendered } from './render'
import { wordingOf } from './wording'
import { tellQuota, type Quota } from '../errors'
import { ClientGone } from '../wire/chunk-stream'

/** A request whose answer is about to go out. */
export interface Exchange {
  request: Request
  requestId: string
  /** Monotonic milliseconds. */
  startedAtMs: number
  /** Where the caller stands with his limits; undefined where he has none, or is not known. */
  quota: Quota | undefined
}

/** What every answer gets: its headers, and a line in the log. */
export function finish(response: Response, exchange: Exchange, log: Logger): void {
  const { requestId, startedAtMs, quota } = exchange
  const tookMs = performance.now() - startedAtMs
  const { headers } = response
  // A replayed answer has the id of the first.
  if (!headers.has('x-request-id')) headers.set('x-request-id', requestId)
  headers.set('openai-processing-ms', String(Math.round(tookMs)))
  // A 429 has told already which limit refused.
  if (quota && response.status !== 429) tellQuota(headers, quota)
  if (log.isLevelEnabled('info')) log.info(lineOf(response, exchange, tookMs))
}

/** One line a request. */
function lineOf({ status }: Response, { request, requestId }: Exchange, tookMs: number) {
  return {
    requestId,
    method: request.method,
    path: pathOf(request.url).slice(0, 300),
    status,
    ms: Math.round(tookMs * 10) / 10,
  }
}

/** The answer for what was thrown; what is our fault is logged. */
export function failed(
  thrown: unknown,
  { request, requestId }: Pick<Exchange, 'request' | 'requestId'>,
  log: Logger,
): Response {
  // Nobody is left to read it; for the log, by the number that proxies use.
  if (thrown instanceof ClientGone) return new Response(null, { status: 499 })
  const error = toRendered(thrown)
  if (error.status >= 500)
    log.error({ requestId, code: error.code, err: error.cause }, error.message)
  return renderError(error, requestId, wordingOf(request))
}
