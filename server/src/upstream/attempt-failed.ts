import { AnswerTooLong } from './http/answer'
import { ConnectionFailed } from './http/connection-failed'
import { ApiError } from '../errors'
import { findUpstreamError, invalidAnswer, type ErrorSource } from '../providers/upstream-error'
import { ClientDisconnected } from '../wire/chunk-stream'
import { ShapeExceeded } from '../wire/json-shape'
import { EventTooLong } from '../wire/sse'

/** An attempt that failed before anything went to the caller. */
export class AttemptFailed extends Error {
  override readonly name = 'AttemptFailed'
  readonly error: ApiError
  /** The provider cannot have billed anything, and another candidate may succeed. Source: contract 10.2. */
  readonly mayTryNext: boolean

  constructor(error: ApiError, mayTryNext: boolean) {
    super(error.message, { cause: error })
    this.error = error
    this.mayTryNext = mayTryNext
  }
}

/** Describes to the caller the failure that broke an exchange. */
export function toProviderError(thrown: unknown, source: ErrorSource): ApiError {
  if (thrown instanceof ApiError) return thrown
  if (thrown instanceof EventTooLong) return invalidAnswer(source.provider, thrown.message)
  if (thrown instanceof AnswerTooLong) {
    return invalidAnswer(source.provider, 'a response that is too large')
  }
  if (thrown instanceof ShapeExceeded) {
    return invalidAnswer(source.provider, `a response that ${thrown.message}`)
  }
  if (thrown instanceof ConnectionFailed) {
    return new ApiError('connection_failed', {
      message: thrown.connected
        ? `The connection to ${source.provider} was lost.`
        : `${source.provider} could not be reached.`,
      // The provider may have billed what it received.
      retryable: !thrown.connected,
      cause: thrown,
    })
  }
  return invalidAnswer(source.provider, 'an unreadable response', thrown)
}

/** A failed attempt; a client's disconnect is no failure of the provider. */
export function toAttemptFailed(thrown: unknown, source: ErrorSource): Error {
  if (thrown instanceof ClientDisconnected || thrown instanceof AttemptFailed) return thrown
  const isUnsent = thrown instanceof ConnectionFailed && !thrown.connected
  return new AttemptFailed(toProviderError(thrown, source), isUnsent)
}

/** An error in place of an answer whose status was good: a provider that was only busy did no work. */
export const refusalInAnswer = (error: ApiError): AttemptFailed =>
  new AttemptFailed(error, findUpstreamError(error)?.classification.didNoWork === true)
