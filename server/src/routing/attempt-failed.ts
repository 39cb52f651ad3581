import { AnswerTooLong } from '../egress/answer'
import { ConnectionFailed } from '../egress/connection-failed'
import { ApiError } from '../errors'
import { nonsense, type Source } from '../providers/upstream-error'
import { ClientGone } from '../wire/chunk-stream'
import { ShapeExceeded } from '../wire/json-shape'
import { EventTooLong } from '../wire/sse'

/** An attempt that failed before anything went to the caller. */
export class AttemptFailed extends Error {
  override readonly name = 'AttemptFailed'
  readonly error: ApiError
  /** Nothing can have been billed, and another candidate may do better. Source: contract 10.2. */
  readonly mayTryNext: boolean

  constructor(error: ApiError, mayTryNext: boolean) {
    super(error.message, { cause: error })
    this.error = error
    this.mayTryNext = mayTryNext
  }
}

/** What broke an exchange, in words for the caller. */
export function toBroken(thrown: unknown, source: Source): ApiError {
  if (thrown instanceof ApiError) return thrown
  if (thrown instanceof EventTooLong) return nonsense(source.provider, 'an event beyond 1 MB')
  if (thrown instanceof AnswerTooLong) {
    return nonsense(source.provider, 'an answer that is too large')
  }
  if (thrown instanceof ShapeExceeded) {
    return nonsense(source.provider, `an answer that ${thrown.message}`)
  }
  if (thrown instanceof ConnectionFailed) {
    return new ApiError('connection_failed', {
      message: thrown.connected
        ? `The connection to ${source.provider} was lost.`
        : `${source.provider} could not be reached.`,
      // What was sent may have been billed.
      retryable: !thrown.connected,
      cause: thrown,
    })
  }
  return nonsense(source.provider, 'an unreadable answer', thrown)
}

/** A failed attempt; a caller who has gone is no failure of the provider's. */
export function broken(thrown: unknown, source: Source): Error {
  if (thrown instanceof ClientGone || thrown instanceof AttemptFailed) return thrown
  const isUnsent = thrown instanceof ConnectionFailed && !thrown.connected
  return new AttemptFailed(toBroken(thrown, source), isUnsent)
}

/** An error in place of an answer whose status was good: who was only busy did nothing. */
export const refusedInside = (error: ApiError): AttemptFailed =>
  new AttemptFailed(error, error.code === 'provider_error' && error.status === 503)
