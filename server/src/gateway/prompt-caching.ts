import type { Call, Turn } from './job'
import { invalidRequest } from '../errors'
import { withBreakpoints, type CacheLifetime } from '../providers/prompt-caching'
import { isByPrice } from '../routing/candidate'
import { coversHour } from '../wire/cache-lifetimes'
import type { JsonObject } from '../wire/json-body'

/** Request header by which a caller has Tollgate set breakpoints, or set none. */
export const promptCachingHeader = 'x-tollgate-prompt-caching'

interface Asking {
  model: Pick<Turn<unknown>['model'], 'pricing'>
  candidate: Pick<Turn<unknown>['candidate'], 'connection' | 'billing'>
  checked: { call: Pick<Call, 'promptCaching'> }
}

/**
 * How long the breakpoints of a prompt cache last that Tollgate sets for a request: what its caller
 * asks for, else what the connection says; undefined for none. Five minutes in place of an hour where the
 * price does not cover that. Throws `invalid_request`.
 */
export function promptCachingOf(asking: Asking): CacheLifetime | undefined {
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

/** A chat request with the breakpoints that are set for its client, where the provider takes any. */
export function withPromptCaching(
  chat: JsonObject,
  turn: Asking & Pick<Turn<unknown>, 'candidate'>,
  isTranslated: boolean,
): JsonObject {
  const { cacheControl, cacheControlExtras } = turn.candidate.provider.options
  if (!isTranslated && !cacheControl) return chat
  const placesItself = !isTranslated && cacheControlExtras.includes('request')
  return withBreakpoints(chat, { lifetime: promptCachingOf(turn), placesItself })
}
