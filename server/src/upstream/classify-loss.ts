import { AttemptFailed } from './attempt-failed'
import { AnswerTooLong } from './http/answer'
import { ConnectionFailed } from './http/connection-failed'
import { LargeEventsFull } from './large-events'
import { ApiError } from '../errors'
import { findUpstreamError } from '../providers/upstream-error'
import { ClientDisconnected } from '../wire/chunk-stream'
import { EventTooLong } from '../wire/sse'

/**
 * The cause for which a request that a provider received came to no answer: Tollgate ended it, as its client
 * disconnected, its time was up, the answer too long or memory for its large events missing; or the provider failed, as
 * it lost the connection or sent an unreadable answer.
 */
export type Loss = 'ended' | 'failed'

/** Classifies a broken exchange; undefined for a provider's rejection, which it does not bill. */
export function classifyLoss(thrown: unknown): Loss | undefined {
  if (thrown instanceof ClientDisconnected) return 'ended'
  if (thrown instanceof EventTooLong || thrown instanceof AnswerTooLong) return 'ended'
  if (thrown instanceof ConnectionFailed) return thrown.connected ? 'failed' : undefined
  if (thrown instanceof ApiError) return lossIn(thrown)
  // All other errors are of answers that are no JSON, or not of the expected shape.
  return thrown instanceof AttemptFailed ? undefined : 'failed'
}

function lossIn(error: ApiError): Loss | undefined {
  switch (error.code) {
    case 'request_timeout':
      return 'ended'
    case 'connection_failed':
      return 'failed'
    case 'gateway_unavailable':
      return error.cause instanceof LargeEventsFull ? 'ended' : 'failed'
    case 'provider_error':
      // Its own status, or one that it named in place of an answer.
      return findUpstreamError(error) ? undefined : 'failed'
    default:
      return undefined
  }
}

/** Notes when the system has taken all of a request: until then its provider cannot have read it. */
export class Delivery {
  isDone = false
  readonly #body: { release: () => void } | undefined

  /** `body` is released at the same time, where it is large. */
  constructor(body: { release: () => void } | undefined) {
    this.#body = body
  }

  release(): void {
    this.isDone = true
    this.#body?.release()
  }
}
