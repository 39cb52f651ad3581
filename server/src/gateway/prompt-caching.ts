import type { InboundRequest, RequestAttempt } from './request'
import { invalidRequest } from '../errors'
import { withBreakpoints, type CacheLifetime } from '../providers/prompt-caching'
import { isByPrice } from '../routing/candidate'
import { coversHour } from '../wire/cache-lifetimes'
import type { JsonObject } from '../wire/json-body'

/** Request header by which a caller has Tollgate set breakpoints, or none. */
export const promptCachingHeader = 'x-tollgate-prompt-caching'

interface Asking {
  model: Pick<RequestAttempt<unknown>['model'], 'pricing'>
  candidate: Pick<RequestAttempt<unknown>['candidate'], 'connection' | 'billing'>
  checked: { call: Pick<InboundRequest, 'promptCaching'> }
}

/**
 * Returns the lifetime of the prompt-cache breakpoints that Tollgate sets for a request: the caller's choice, else
 * the connection's; undefined for none. Five minutes in place of an hour where the price does not cover an hour.
 * Throws `invalid_request`.
 */
export function readPromptCaching(asking: Asking): CacheLifetime | undefined {
  const lifetime = askedLifetime(asking)
  const { pricing } = asking.model
  const isCovered = !pricing || !isByPrice(asking.candidate.billing) || coversHour(pricing)
  return lifetime === '1h' && !isCovered ? '5m' : lifetime
}

function askedLifetime({ candidate, checked }: Asking): CacheLifetime | undefined {
  const asked = checked.call.promptCaching
  if (asked === undefined || asked === null) return candidate.connection.options.prompt_caching
  if (asked === '5m' || asked === '1h') return asked
  if (asked === 'off') return undefined
  throw invalidRequest(
    promptCachingHeader,
    'unknown_value',
    `${promptCachingHeader}: must be "5m", "1h" or "off".`,
  )
}

/** Adds the breakpoints that Tollgate sets to a chat request, where the provider takes any. */
export function withPromptCaching(
  chat: JsonObject,
  turn: Asking & Pick<RequestAttempt<unknown>, 'candidate'>,
  isTranslated: boolean,
): JsonObject {
  const { cacheControl, cacheControlExtras } = turn.candidate.provider.options
  if (!isTranslated && !cacheControl) return chat
  const placesItself = !isTranslated && cacheControlExtras.includes('request')
  return withBreakpoints(chat, { lifetime: readPromptCaching(turn), placesItself })
}
