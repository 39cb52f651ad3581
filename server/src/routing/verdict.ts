import { AttemptFailed } from './attempt'
import { GatewayLost } from '../egress/gateway-call'
import { ApiError } from '../errors'
import { isObject } from '../wire/json-body'

/** What an attempt's end says of its provider: it works, it fails, or nothing. */
export interface Verdict {
  says: 'works' | 'fails' | 'nothing'
  /** How long it will be busy, as it said itself, in milliseconds; 0 where it did not. */
  busyMs: number
}

const works: Verdict = { says: 'works', busyMs: 0 }
const fails: Verdict = { says: 'fails', busyMs: 0 }
const nothing: Verdict = { says: 'nothing', busyMs: 0 }

/**
 * Judges what an attempt threw. Failures are the provider's own: not reached, lost, silent, busy, broken;
 * and a credential that it does not know, which is never the caller's of a request. A request that was
 * at fault, whatever its status, is no failure; nor is the socket of a gateway that was lost, as it is
 * known when there is another.
 */
export function verdictOf(thrown: unknown): Verdict {
  const error = thrown instanceof AttemptFailed ? thrown.error : thrown
  if (!(error instanceof ApiError)) return nothing
  switch (error.code) {
    case 'connection_failed':
      return error.cause instanceof GatewayLost ? nothing : fails
    case 'request_timeout':
      return fails
    case 'provider_error':
      return providersFault(error)
    case 'invalid_request':
    case 'context_length_exceeded':
    case 'max_tokens_exceeded':
      return works
    default:
      return nothing
  }
}

function providersFault({ status, retryAfterSeconds = 0, cause }: ApiError): Verdict {
  if (status === 503) return { says: 'fails', busyMs: retryAfterSeconds * 1000 }
  const upstream = isObject(cause) ? cause['upstreamStatus'] : undefined
  // What no status tells was no answer at all: not to be read, or cut.
  if (typeof upstream !== 'number' || upstream >= 500) return fails
  // An account without credit says 429, and a credential that is not known 401.
  return upstream === 401 || upstream === 429 ? fails : nothing
}

/** The provider's words where it refused the credential: 401 or 403. Undefined for all else. */
export function refusalIn(thrown: unknown): string | undefined {
  const error = thrown instanceof AttemptFailed ? thrown.error : thrown
  if (!(error instanceof ApiError) || error.code !== 'provider_error') return undefined
  const status = isObject(error.cause) ? error.cause['upstreamStatus'] : undefined
  if (status !== 401 && status !== 403) return undefined
  const words = error.details['provider_error']
  return typeof words === 'string' && words !== '' ? words : error.message
}
