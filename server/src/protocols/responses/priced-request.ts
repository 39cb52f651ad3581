import type { PaidTerms } from '../dialect'
import { requestsSearch, choiceIn, isPricedSearch, unknownSearchField } from './hosted-uses'
import { mayOmit } from './tool-choice'
import { isHosted } from './tool-kinds'
import { unpricedField } from '../../errors'
import { cacheLifetimeField, hasUsualCache, withUsualCache } from '../../wire/cache-lifetimes'
import { boundOf } from '../../wire/hosted-uses'
import { isObject, type JsonObject } from '../../wire/json-body'

/** Tools that cost nothing but their tokens. */
const free =
  /^(function|custom|tool_search|shell|local_shell|apply_patch|computer|computer_use_preview)$/

/** Places in the queue at the ordinary price, or below. */
const ordinaryTiers = new Set(['auto', 'default', 'flex'])

/**
 * Fields that any provider of this format charges by other rules than the price of the model, or whose cost nothing
 * bounds: other models and hosts, sub-agents, another model's reading of prompt and answer.
 */
const unpricedFields = [
  'models',
  'route',
  'preset',
  'provider',
  'plugins',
  'access_programs',
  'multi_agent',
  'moderation',
]

/**
 * Returns a request for a provider of this format without the fields that the price of its model does not
 * cover. `omit` receives each field that is left out. Throws `invalid_request` for those that cannot just
 * be left out.
 */
export function toPriced(body: JsonObject, terms: PaidTerms): JsonObject {
  for (const name of unpricedFields) {
    const value = body[name]
    if (value && !(Array.isArray(value) && value.length === 0)) throw unpricedField(name)
  }
  rejectUnpricedSettings(body)
  const { input } = body
  const pricedBody = { ...withUsualCache(body), ...pricedTools(body, terms) }
  if (!hasUsualCache(body)) terms.omit(cacheLifetimeField)
  for (const [index, item] of (Array.isArray(input) ? input : []).entries()) {
    const offered: unknown = isObject(item) ? item['tools'] : undefined
    if (!Array.isArray(offered)) continue
    const at = unpricedIn(offered)
    if (at >= 0) throw unpricedField(`input.${index}.tools.${at}.type`)
  }
  const { service_tier: tier } = body
  if (typeof tier === 'string' && !ordinaryTiers.has(tier)) {
    delete pricedBody['service_tier']
    terms.omit('service_tier')
  }
  return pricedBody
}

/** To compact a prompt, all of it is read once more; a mode of reasoning may answer several times over. */
function rejectUnpricedSettings({ context_management: edits, reasoning }: JsonObject): void {
  if (Array.isArray(edits) ? edits.length > 0 : edits) throw unpricedField('context_management')
  const mode = isObject(reasoning) ? reasoning['mode'] : undefined
  if (mode && mode !== 'standard') throw unpricedField('reasoning.mode')
}

/**
 * Returns the tools that the price covers, and bounds the calls of those with a price of their own, as the
 * hold assumes.
 */
function pricedTools(body: JsonObject, { pricing, omit }: PaidTerms): JsonObject {
  const { tools, max_tool_calls: maxCalls } = body
  if (!Array.isArray(tools)) return {}
  const paysSearches = pricing.search !== undefined && requestsSearch(body, tools.some(isFree))
  const pricedTools = withoutUnpriced(tools, { body, omit, paysSearches })
  return {
    ...(pricedTools.length < tools.length && { tools: pricedTools }),
    ...(pricedTools.some(isPricedSearch) && { max_tool_calls: boundOf(maxCalls) }),
  }
}

const unpricedIn = (tools: readonly unknown[]) => tools.findIndex((tool) => !isFree(tool))

/** Whether a tool costs nothing but its tokens. */
export function isFree(tool: unknown): boolean {
  if (!isObject(tool)) return true
  const { type, environment, tools } = tool
  if (typeof type !== 'string') return true
  if (type === 'namespace') return !Array.isArray(tools) || tools.every(isFree)
  // A shell of the caller's own is free, a container is not.
  if (type === 'shell') return !isObject(environment) || environment['type'] === 'local'
  return free.test(type)
}

interface OmissionContext {
  body: JsonObject
  omit: (field: string) => void
  paysSearches: boolean
}

function withoutUnpriced(
  tools: readonly unknown[],
  { body, omit, paysSearches }: OmissionContext,
): unknown[] {
  const hasOthers = tools.some(isFree)
  const choice = choiceIn(body)
  return tools.filter((tool, index) => {
    if (isFree(tool)) return true
    if (paysSearches && isPricedSearch(tool)) {
      const unknown = unknownSearchField(tool)
      if (unknown !== undefined) throw unpricedField(`tools.${index}.${unknown}`)
      return true
    }
    const field = `tools.${index}.type`
    const type = isObject(tool) ? String(tool['type']) : ''
    if (!isHosted(type) || !mayOmit({ type }, hasOthers, choice)) throw unpricedField(field)
    omit(field)
    return false
  })
}
