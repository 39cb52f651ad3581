import { ApiError } from '../errors'

/** The same failure after tools have run: whoever repeats the message would have them run again. */
export function markNonRetryable(thrown: unknown): unknown {
  if (!(thrown instanceof ApiError)) return thrown
  const { message, param, details, status, retryAfterSeconds, quota, cause } = thrown
  return new ApiError<ApiError['code']>(thrown.code, {
    message,
    param,
    details,
    status,
    cause,
    retryable: false,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(quota && { quota }),
  })
}
