import { ApiError } from '../errors'

/** Marks a failure that follows tool calls as not retryable: a retry of the message would run the tools again. */
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
