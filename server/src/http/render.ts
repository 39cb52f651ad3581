import { HTTPException } from 'hono/http-exception'
import type { ErrorFormat } from '../protocols/dialect'
import {
  ApiError,
  toErrorBody,
  toErrorHeaders,
  invalidRequest,
  reportQuota,
  toApiError,
  unavailable,
} from '../errors'
import { isStorageFull, storageFull } from '../platform/storage-full'

/** Codes of PostgreSQL, and of sockets, for an unavailable database rather than a wrong query. */
const infrastructure =
  /^(08|53|57P|58|25006|40001|40P01|57014)|ECONN|ENOENT|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN/
const driverMessages = /timeout|terminated|Connection ended|Client has encountered|not queryable/i

/** Whether a thrown value means that our own infrastructure is unavailable. */
export function isOutage(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  const code = Reflect.get(thrown, 'code')
  if (typeof code === 'string' && infrastructure.test(code)) return true
  return driverMessages.test(thrown.message) && Reflect.get(thrown, 'severity') === undefined
}

/** Converts any thrown value to an error for the caller. */
export function toRendered(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  if (thrown instanceof HTTPException) {
    return invalidRequest(null, 'invalid_json', 'The request could not be read.')
  }
  if (isStorageFull(thrown)) return storageFull(thrown)
  return isOutage(thrown) ? unavailable(thrown) : toApiError(thrown)
}

/** Headers of server-sent events, which no proxy may buffer. */
export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

/** Returns a body of unknown length, as streams are. */
export const streamOf = (body: Uint8Array) =>
  new ReadableStream<Uint8Array>({
    pull: (controller) => {
      controller.enqueue(body)
      controller.close()
    },
  })

export const ownErrorFormat: ErrorFormat = { errorBody: toErrorBody }

/** Renders an error. The only place where something thrown becomes a body. */
export function renderError(
  error: ApiError,
  requestId: string,
  errorFormat: ErrorFormat = ownErrorFormat,
): Response {
  const events = errorFormat.failedStream?.(error, requestId)
  const headers = new Headers({
    ...(events === undefined ? { 'content-type': 'application/json' } : streamHeaders),
    ...toErrorHeaders(error),
    ...errorFormat.headers?.(requestId),
  })
  if (error.quota) reportQuota(headers, error.quota)
  if (events !== undefined) return new Response(streamOf(Buffer.from(events)), { headers })
  return new Response(JSON.stringify(errorFormat.errorBody(error, requestId)), {
    status: errorFormat.status?.(error) ?? error.status,
    headers,
  })
}
