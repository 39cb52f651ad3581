import { AttemptFailed } from '../upstream/attempt'
import type { BreakerFailure } from './route-breaker'
import { GatewayLost } from '../upstream/http/gateway-call'
import { ApiError } from '../errors'
import { isBeyondAnyWait } from '../providers/refusal-kind'
import { isObject } from '../wire/json-body'

/**
 * The result of an attempt for its breakers: `works`; `nothing`, where it shows nothing; or a failure, of the
 * provider or perhaps of this account's requests alone.
 */
export type FailureClass = 'works' | 'nothing' | BreakerFailure

/** A failure of the provider, once several accounts see it. */
const fails: BreakerFailure = { busyMs: 0, isShared: true }
/** Perhaps a failure of the request's content: another account's requests may succeed. */
const failsForAccount: BreakerFailure = { busyMs: 0, isShared: false }

/**
 * Classifies the error of an attempt. Failures are the provider's own: unreachable, lost, silent, busy, broken; and a
 * credential that it rejects, which is never the fault of a request's caller. A request at fault, whatever its
 * status, is no failure; nor is the lost socket of a gateway, as the next socket's arrival is known.
 */
export function classifyFailure(thrown: unknown): FailureClass {
  const error = thrown instanceof AttemptFailed ? thrown.error : thrown
  if (!(error instanceof ApiError)) return 'nothing'
  switch (error.code) {
    case 'connection_failed':
      return error.cause instanceof GatewayLost ? 'nothing' : fails
    case 'request_timeout':
      // A long prompt or answer takes its time; a completely silent stream does not.
      return isObject(error.cause) && error.cause['isSilence'] === true ? fails : failsForAccount
    case 'provider_error':
      return verdictOfProviderError(error)
    case 'invalid_request':
    case 'context_length_exceeded':
    case 'max_tokens_exceeded':
      return 'works'
    default:
      return 'nothing'
  }
}

function verdictOfProviderError({
  status,
  retryAfterSeconds = 0,
  cause,
  details,
}: ApiError): FailureClass {
  const upstream = isObject(cause) ? cause['upstreamStatus'] : undefined
  const words = details['provider_error']
  if (upstream === 429 && typeof words === 'string' && isBeyondAnyWait(words)) return 'nothing'
  if (status === 503) {
    return retryAfterSeconds > 0 ? { busyMs: retryAfterSeconds * 1000, isShared: true } : fails
  }
  // Without a status there was no complete answer: it could not be read, or was cut.
  if (typeof upstream !== 'number' || upstream >= 500) return fails
  // An account without credit gets 429, and a credential that is not known 401.
  return upstream === 401 || upstream === 429 ? fails : 'nothing'
}

/** The provider's message where it rejected the credential: 401 or 403. Undefined for all else. */
export function readCredentialRefusal(thrown: unknown): string | undefined {
  const error = thrown instanceof AttemptFailed ? thrown.error : thrown
  if (!(error instanceof ApiError) || error.code !== 'provider_error') return undefined
  const status = isObject(error.cause) ? error.cause['upstreamStatus'] : undefined
  if (status !== 401 && status !== 403) return undefined
  const words = error.details['provider_error']
  return typeof words === 'string' && words !== '' ? words : error.message
}
