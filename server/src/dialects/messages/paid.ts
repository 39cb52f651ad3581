import { isObject, type JsonObject } from '../../wire/json-body'
import { invalidRequest } from '../../errors'

/** Tools that the caller runs, or that search among the caller's own: they cost what they say. */
const freeTools = /^(custom$|(bash|text_editor|computer|memory|tool_search_tool_\w+)_\d+$)/

/** What tunes an answer at another price than ours. */
const dearer = ['service_tier', 'inference_geo', 'speed']

const unpaid = (param: string) =>
  invalidRequest(
    param,
    'unsupported_by_model',
    `${param} is not covered by this model's price; it works on a connection of your own.`,
  )

/** To write a summary, all of the prompt is read once more. */
const compacts = (edit: unknown) => isObject(edit) && String(edit['type']).startsWith('compact')

/**
 * A request for Anthropic without what the price of its model does not cover. Throws `invalid_request`
 * for what cannot just be left out. Whoever pays Anthropic himself is not asked.
 */
export function paidOf(body: JsonObject): JsonObject {
  const { tools, context_management: management } = body
  for (const name of ['mcp_servers', 'container', 'fallbacks']) {
    const value = body[name]
    if (value && !(Array.isArray(value) && value.length === 0)) throw unpaid(name)
  }
  for (const [position, tool] of (Array.isArray(tools) ? tools : []).entries()) {
    const type: unknown = isObject(tool) ? tool['type'] : undefined
    if (typeof type === 'string' && !freeTools.test(type)) throw unpaid(`tools.${position}.type`)
  }
  const edits = isObject(management) ? management['edits'] : undefined
  if (Array.isArray(edits) && edits.some(compacts)) throw unpaid('context_management.edits')
  const paid = { ...body }
  for (const name of dearer) delete paid[name]
  return paid
}
