import { mayOmit } from './tool-choice'
import type { ResponsesRequest } from './request'
import { boundOf, checkUses, type HostedUses } from '../../wire/hosted-uses'
import { isObject, type JsonObject } from '../../wire/json-body'

/**
 * OpenAI's web search as it has one price for all models; `web_search_preview` has another.
 * @see https://platform.openai.com/docs/pricing#built-in-tools
 */
const pricedSearch = /^web_search(_2025_08_26)?$/

/** Fields that do not change the price of a search. */
const searchFields = new Set([
  'type',
  'external_web_access',
  'filters',
  'search_context_size',
  'user_location',
])

/** @see https://platform.openai.com/docs/guides/tools-web-search#limitations */
const searchContext = 128_000

export const isPricedSearch = (tool: unknown): tool is JsonObject =>
  isObject(tool) && typeof tool['type'] === 'string' && pricedSearch.test(tool['type'])

/** Returns the first field of a search whose effect on the price is unknown. */
export const unknownSearchField = (tool: JsonObject): string | undefined =>
  Object.keys(tool).find((name) => !searchFields.has(name))

/** The choice of a request among its tools, which was checked when the request was read. */
export function choiceIn({ tool_choice: choice }: JsonObject): ResponsesRequest['tool_choice'] {
  if (choice === 'none' || choice === 'auto' || choice === 'required') return choice
  return isObject(choice) && typeof choice['type'] === 'string'
    ? { ...choice, type: choice['type'] }
    : undefined
}

/**
 * Decides whether a search is to be paid for: clients offer it by default, and its maximum cost is held. A
 * request that bounds the calls of hosted tools, makes the model call it, or offers nothing else, wants
 * it.
 */
export function requestsSearch(body: JsonObject, hasOthers: boolean): boolean {
  if (choiceIn(body) === 'none') return false
  const { max_tool_calls: maxCalls } = body
  return typeof maxCalls === 'number' || !mayOmit({ type: 'web_search' }, hasOthers, choiceIn(body))
}

/**
 * The maximum use of the web search of a request, where it has a price; undefined where the request does
 * not want it. Throws `invalid_request` for a bound above `maxUses`.
 */
export function hostedUsesIn(body: JsonObject, isFree: (tool: unknown) => boolean) {
  const { tools, max_tool_calls: maxCalls } = body
  if (!Array.isArray(tools) || !tools.some(isPricedSearch)) return undefined
  if (!requestsSearch(body, tools.some(isFree))) return undefined
  checkUses(maxCalls, 'max_tool_calls')
  const uses = boundOf(maxCalls)
  return { searches: uses, rounds: uses, maxContext: searchContext } satisfies HostedUses
}
