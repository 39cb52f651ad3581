import type { RequestAttempt } from './attempt'
import type { InboundRequest } from './request'
import { invalidRequest } from '../errors'
import { withBreakpoints, type CacheLifetime } from '../providers/prompt-caching'
import { isByPrice } from '../routing/candidate'
import { coversHour } from '../wire/cache-lifetimes'
import type { JsonObject } from '../wire/json-body'

/** Request header by which a caller has Tollgate set breakpoints, or none. */
export const promptCachingHeader = 'x-tollgate-prompt-caching'

interface CachingAttempt {
  model: Pick<RequestAttempt<unknown>['model'], 'pricing'>
  candidate: Pick<RequestAttempt<unknown>['candidate'], 'connection' | 'billing'>
  request: { call: Pick<InboundRequest, 'promptCaching'> }
}

/**
 * Returns the lifetime of the prompt-cache breakpoints that Tollgate sets for a request: the caller's choice, else
 * the connection's; undefined for none. Five minutes in place of an hour where the price does not cover an hour.
 * Throws `invalid_request`.
 */
export function readPromptCaching(attempt: CachingAttempt): CacheLifetime | undefined {
  const lifetime = requestedLifetime(attempt)
  const { pricing } = attempt.model
  const isCovered = !pricing || !isByPrice(attempt.candidate.billing) || coversHour(pricing)
  return lifetime === '1h' && !isCovered ? '5m' : lifetime
}

function requestedLifetime({ candidate, request }: CachingAttempt): CacheLifetime | undefined {
  const requestedCaching = request.call.promptCaching
  if (requestedCaching === undefined || requestedCaching === null)
    return candidate.connection.options.prompt_caching
  if (requestedCaching === '5m' || requestedCaching === '1h') return requestedCaching
  if (requestedCaching === 'off') return undefined
  throw invalidRequest(
    promptCachingHeader,
    'unknown_value',
    `${promptCachingHeader}: must be "5m", "1h" or "off".`,
  )
}

/** Adds the breakpoints that Tollgate sets to a chat request, where the provider takes any. */
export function withPromptCaching(
  chat: JsonObject,
  attempt: CachingAttempt & Pick<RequestAttempt<unknown>, 'candidate'>,
  isTranslated: boolean,
): JsonObject {
  const { cacheControl, cacheControlExtras } = attempt.candidate.provider.options
  if (!isTranslated && !cacheControl) return chat
  const setsOwnBreakpoints = !isTranslated && cacheControlExtras.includes('request')
  return withBreakpoints(chat, { lifetime: readPromptCaching(attempt), setsOwnBreakpoints })
}
