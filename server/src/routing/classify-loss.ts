import { AttemptFailed } from './attempt-failed'
import { AnswerTooLong } from '../egress/answer'
import { ConnectionFailed } from '../egress/connection-failed'
import { ApiError } from '../errors'
import { ClientGone } from '../wire/chunk-stream'
import { isObject } from '../wire/json-body'
import { EventTooLong } from '../wire/sse'

/**
 * Why a request that a provider was sent came to no answer: Tollgate ended it, as its caller left, its time
 * was up or the answer too long; or the provider failed, which lost the connection or sent what cannot be read.
 */
export type Loss = 'ended' | 'failed'

/** Of what broke an exchange; undefined for a provider's refusal, which it bills nobody for. */
export function classifyLoss(thrown: unknown): Loss | undefined {
  if (thrown instanceof ClientGone) return 'ended'
  if (thrown instanceof EventTooLong || thrown instanceof AnswerTooLong) return 'ended'
  if (thrown instanceof ConnectionFailed) return thrown.connected ? 'failed' : undefined
  if (thrown instanceof ApiError) return lossIn(thrown)
  // All else is no JSON, or not what was wanted.
  return thrown instanceof AttemptFailed ? undefined : 'failed'
}

function lossIn({ code, cause }: ApiError): Loss | undefined {
  switch (code) {
    case 'request_timeout':
      return 'ended'
    case 'connection_failed':
    case 'gateway_unavailable':
      return 'failed'
    case 'provider_error':
      // Its own status, or one that it named in place of an answer.
      return isObject(cause) && typeof cause['upstreamStatus'] === 'number' ? undefined : 'failed'
    default:
      return undefined
  }
}

/** Notes when the system has taken all of a request: until then its provider cannot have read it. */
export class Delivery {
  isDone = false
  readonly #body: { release: () => void } | undefined

  /** `body`: told the same, where it is large. */
  constructor(body: { release: () => void } | undefined) {
    this.#body = body
  }

  release(): void {
    this.isDone = true
    this.#body?.release()
  }
}
