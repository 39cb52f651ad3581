import { AttemptFailed } from './attempt'
import type { BreakerFailure } from './route-breaker'
import { GatewayLost } from '../egress/gateway-call'
import { ApiError } from '../errors'
import { isBeyondAnyWait } from '../providers/refusal-kind'
import { isObject } from '../wire/json-body'

/**
 * The end of an attempt, as its breakers see it: `works`; `nothing`, where it tells nothing; or a
 * failure, of the provider or perhaps of this account's requests alone.
 */
export type FailureClass = 'works' | 'nothing' | BreakerFailure

/** It tells of the provider, as far as several accounts see it. */
const fails: BreakerFailure = { busyMs: 0, isShared: true }
/** It may be what was asked for: another account's requests may fare well. */
const failsForAccount: BreakerFailure = { busyMs: 0, isShared: false }

/**
 * Judges what an attempt threw. Failures are the provider's own: not reached, lost, silent, busy, broken;
 * and a credential that it does not know, which is never the caller's of a request. A request that was
 * at fault, whatever its status, is no failure; nor is the socket of a gateway that was lost, as it is
 * known when there is another.
 */
export function classifyFailure(thrown: unknown): FailureClass {
  const error = thrown instanceof AttemptFailed ? thrown.error : thrown
  if (!(error instanceof ApiError)) return 'nothing'
  switch (error.code) {
    case 'connection_failed':
      return error.cause instanceof GatewayLost ? 'nothing' : fails
    case 'request_timeout':
      // A long prompt or answer takes its time; a stream that says nothing at all does not.
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
  // What no status tells was no answer at all: not to be read, or cut.
  if (typeof upstream !== 'number' || upstream >= 500) return fails
  // An account without credit says 429, and a credential that is not known 401.
  return upstream === 401 || upstream === 429 ? fails : 'nothing'
}

/** The provider's words where it refused the credential: 401 or 403. Undefined for all else. */
export function readCredentialRefusal(thrown: unknown): string | undefined {
  const error = thrown instanceof AttemptFailed ? thrown.error : thrown
  if (!(error instanceof ApiError) || error.code !== 'provider_error') return undefined
  const status = isObject(error.cause) ? error.cause['upstreamStatus'] : undefined
  if (status !== 401 && status !== 403) return undefined
  const words = error.details['provider_error']
  return typeof words === 'string' && words !== '' ? words : error.message
}
