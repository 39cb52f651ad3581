import { isObject, type JsonObject } from '../../wire/json-body'
import { isFetch, isPricedSearch, withBoundedUses } from './hosted-uses'
import type { PaidTerms } from '../dialect'
import { unpricedField } from '../../errors'
import { withPricedCaches } from '../../wire/cache-lifetimes'

/** Tools that the caller runs, or that search among the caller's own: they cost only their tokens. */
const freeTools =
  /^(custom$|(bash|text_editor|(computer|browser)(_toolset)?|memory|tool_search_tool_\w+)_\d+$)/

/** Fields that change the price of an answer, with the values that keep ours. */
const dearer: Readonly<Record<string, readonly unknown[]>> = {
  service_tier: ['auto', 'standard_only'],
  speed: ['standard'],
}

/** Returns whether a tool costs nothing beside its tokens, or only units that the model has a price for. */
function isPaid(tool: unknown, paysSearches: boolean): boolean {
  const type: unknown = isObject(tool) ? tool['type'] : undefined
  if (typeof type !== 'string' || freeTools.test(type) || isFetch(type)) return true
  return paysSearches && isPricedSearch(type)
}

/** To write a summary, all of the prompt is read once more. */
const compacts = (edit: unknown) => isObject(edit) && String(edit['type']).startsWith('compact')

/**
 * Returns a request for Anthropic without the fields that the price of its model does not cover. Throws
 * `invalid_request` for those that cannot just be left out. Requests on a caller's own credential are not
 * stripped. Searches and fetches are bounded: their maximum cost is held.
 */
export function stripUnpricedMessage(body: JsonObject, { pricing, omit }: PaidTerms): JsonObject {
  const { tools, context_management: management, inference_geo: region } = body
  // A region costs more, and elsewhere the answer would break the client's requirement.
  if (region && region !== 'global') throw unpricedField('inference_geo')
  for (const name of ['mcp_servers', 'container', 'fallbacks', 'compaction', 'billing_policy']) {
    const value = body[name]
    if (value && !(Array.isArray(value) && value.length === 0)) throw unpricedField(name)
  }
  const unpaidAt = (Array.isArray(tools) ? tools : []).findIndex(
    (tool) => !isPaid(tool, pricing.search !== undefined),
  )
  if (unpaidAt >= 0) throw unpricedField(`tools.${unpaidAt}.type`)
  const edits = isObject(management) ? management['edits'] : undefined
  if (Array.isArray(edits) && edits.some(compacts)) throw unpricedField('context_management.edits')
  const paid = { ...withPricedCaches(withBoundedUses(body), pricing) }
  for (const [name, ordinary] of Object.entries(dearer)) {
    const value = paid[name]
    delete paid[name]
    if (value && !ordinary.includes(value)) omit(name)
  }
  return paid
}
