import { AttemptFailed } from '../upstream/attempt-failed'
import { sharedFailure, type BreakerFailure } from './route-breaker'
import { GatewayLost } from '../upstream/http/gateway-call'
import { ApiError } from '../errors'
import { findUpstreamError } from '../providers/upstream-error'
import { ProviderSilence } from '../upstream/deadline'

/**
 * The result of an attempt for its breakers: `works`; `nothing`, where it shows nothing; or a failure, of the
 * provider or perhaps of this account's requests alone.
 */
export type FailureClass = 'works' | 'nothing' | BreakerFailure

/** Perhaps a failure of the request's content: another account's requests may succeed. */
const failsForAccount: BreakerFailure = { busyMs: 0, isShared: false }

/** The operator has to pay in first, which takes minutes at least. */
const unpaidMs = 300_000
const unpaid: BreakerFailure = { busyMs: unpaidMs, isShared: true, maxOpenMs: unpaidMs }

/**
 * Classifies the error of an attempt. Failures are the provider's own: unreachable, lost, silent, busy, broken; and a
 * credential that it rejects or an account without credit, which is never the fault of a request's caller. A request at fault, whatever its
 * status, is no failure; nor is the lost socket of a gateway, as the next socket's arrival is known.
 */
export function classifyFailure(thrown: unknown): FailureClass {
  const error = thrown instanceof AttemptFailed ? thrown.error : thrown
  if (!(error instanceof ApiError)) return 'nothing'
  switch (error.code) {
    case 'connection_failed':
      return error.cause instanceof GatewayLost ? 'nothing' : sharedFailure
    case 'request_timeout':
      // A long prompt or answer takes its time; a completely silent stream does not.
      return error.cause instanceof ProviderSilence ? sharedFailure : failsForAccount
    case 'provider_error':
      return classifyProviderError(error)
    case 'invalid_request':
    case 'context_length_exceeded':
    case 'max_tokens_exceeded':
      return 'works'
    default:
      return 'nothing'
  }
}

function classifyProviderError(error: ApiError): FailureClass {
  const breaker = findUpstreamError(error)?.classification.breaker
  const { retryAfterSeconds = 0 } = error
  switch (breaker) {
    case 'works':
    case 'nothing':
      return breaker
    case 'unpaid':
      return unpaid
    default:
      // Without a refusal there was no complete answer: it could not be read, or was cut.
      return retryAfterSeconds > 0
        ? { busyMs: retryAfterSeconds * 1000, isShared: true }
        : sharedFailure
  }
}

/**
 * Returns the provider's message where it rejected the connection's credential, or the account behind it has no credit.
 * Undefined for all else.
 */
export function readConnectionRefusal(thrown: unknown): string | undefined {
  const error = thrown instanceof AttemptFailed ? thrown.error : thrown
  if (!(error instanceof ApiError) || error.code !== 'provider_error') return undefined
  const refusal = findUpstreamError(error)
  return refusal?.classification.isConnectionRefused ? refusal.words || error.message : undefined
}
