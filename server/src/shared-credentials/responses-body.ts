import { withAllowed, type SharedCredential, type SharedUse } from './credential'
import { rejectReferenceFields, rejectStoredComparison, withListedFields } from './relayed-body'
import { rejectStored, rejectUnlisted } from './rejections'
import { isPublicUrl } from './stored-references'
import { toUnstored } from '../protocols/responses/unstored'
import { isReference } from '../wire/item-reference'
import { isObject, type JsonObject, toList } from '../wire/json-body'

/**
 * Items of the published SDK, and Codex's own. Not `item_reference`, which names what the provider keeps, and not the
 * items of sub-agents.
 */
export const responseItems: ReadonlySet<string> = new Set([
  'message',
  'reasoning',
  'additional_tools',
  'configuration_update',
  'program',
  'program_output',
  'compaction',
  'compaction_summary',
  'compaction_trigger',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'shell_call',
  'shell_call_output',
  'apply_patch_call',
  'apply_patch_call_output',
  'computer_call',
  'computer_call_output',
  'tool_search_call',
  'tool_search_output',
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'mcp_list_tools',
  'mcp_call',
  'mcp_approval_request',
  'mcp_approval_response',
])

export const responseTools: ReadonlySet<string> = new Set([
  'function',
  'custom',
  'namespace',
  'tool_search',
  'programmatic_tool_calling',
  'mcp',
  'shell',
  'local_shell',
  'apply_patch',
  'computer',
  'computer_use_preview',
  'web_search',
  'web_search_2025_08_26',
  'file_search',
  'code_interpreter',
  'web_search_preview',
  'web_search_preview_2025_03_11',
  'image_generation',
])

/** The use of a shared credential by a request in the Responses format. */
export interface SharedResponseUse extends SharedUse {
  /** The model thinks. */
  reasoning: boolean
}

/** Throws `invalid_request` where a request in the Responses format names what the provider's account holds. */
export function rejectStoredInResponses(body: JsonObject, credential: SharedCredential): void {
  rejectReferenceFields(body, 'responses', credential)
  const { input, tools, prompt_cache_options: caching } = body
  rejectStoredComparison(caching)
  for (const [index, tool] of toList(tools).entries()) rejectStoredInTool(tool, `tools.${index}`)
  for (const [index, item] of toList(input).entries()) rejectStoredItem(item, `input.${index}`)
}

/**
 * Returns a request in the Responses format without what is not listed, of which the provider stores nothing. Throws
 * `invalid_request` for items and tools that are not listed, and for fields that cannot just be left out.
 */
export function toListedResponses(
  body: JsonObject,
  { credential, reasoning, omit }: SharedResponseUse,
): JsonObject {
  const { input, tools } = body
  const listed = withListedFields(body, { format: 'responses', credential, omit })
  const knownTools = withAllowed(responseTools, credential, 'blocks')
  rejectUnlistedTools(tools, 'tools', knownTools)
  const knownItems = withAllowed(responseItems, credential, 'blocks')
  const items = toList(input)
  for (const [index, item] of items.entries()) {
    if (!isObject(item)) continue
    const { type } = item
    if (typeof type === 'string' && !knownItems.has(type))
      throw rejectUnlisted(`input.${index}.type`)
    rejectUnlistedTools(item['tools'], `input.${index}.tools`, knownTools)
  }
  const readable = items.some(isUnreadable) && {
    input: items.filter((item) => !isUnreadable(item)),
  }
  return { ...toUnstored(listed, { reasoning }), ...readable }
}

/** Thoughts without their text are looked up by their id. */
const isUnreadable = (item: unknown) =>
  isObject(item) && item['type'] === 'reasoning' && !item['encrypted_content']

function rejectStoredItem(item: unknown, param: string): void {
  if (!isObject(item)) return
  if (isReference(item)) throw rejectStored(param)
  const { type, result, content, output, container_id: container } = item
  // Without its image it stands for the one that was made under this id.
  if (type === 'image_generation_call' && !result) throw rejectStored(`${param}.id`)
  if (type === 'code_interpreter_call' && container) throw rejectStored(`${param}.container_id`)
  if (isObject(output) && output['file_id']) throw rejectStored(`${param}.output.file_id`)
  rejectFiles(content, `${param}.content`)
  rejectFiles(output, `${param}.output`)
  rejectStoredInTool(item, param)
}

const addresses = ['image_url', 'file_url'] as const

function rejectFiles(parts: unknown, param: string): void {
  for (const [index, part] of toList(parts).entries()) {
    if (!isObject(part)) continue
    if (part['file_id']) throw rejectStored(`${param}.${index}.file_id`)
    for (const name of addresses) {
      const url = part[name]
      if (typeof url === 'string' && !isPublicUrl(url))
        throw rejectStored(`${param}.${index}.${name}`)
    }
  }
}

/** Checks tools, and those that they hold. */
function rejectUnlistedTools(tools: unknown, param: string, knownTools: ReadonlySet<string>): void {
  for (const [index, tool] of toList(tools).entries()) {
    if (!isObject(tool)) continue
    const { type } = tool
    if (typeof type === 'string' && !knownTools.has(type))
      throw rejectUnlisted(`${param}.${index}.type`)
    rejectUnlistedTools(tool['tools'], `${param}.${index}.tools`, knownTools)
  }
}

/**
 * Stores, containers, tunnels and files that a tool names, or an item: itself, or in the tools of its own. Schemas of
 * functions may name whatever they like.
 */
function rejectStoredInTool(tool: unknown, param: string): void {
  if (!isObject(tool)) return
  const { vector_store_ids: stores, container, environment, input_image_mask: mask, tools } = tool
  if (stores) throw rejectStored(`${param}.vector_store_ids`)
  if (tool['tunnel_id']) throw rejectStored(`${param}.tunnel_id`)
  if (typeof container === 'string') throw rejectStored(`${param}.container`)
  for (const [name, place] of Object.entries({ container, environment, input_image_mask: mask })) {
    if (!isObject(place)) continue
    for (const field of ['file_id', 'file_ids', 'container_id', 'skills']) {
      const value = place[field]
      const isLocal = name === 'environment' && place['type'] === 'local'
      if (value && !isLocal) throw rejectStored(`${param}.${name}.${field}`)
    }
  }
  for (const [index, inner] of toList(tools).entries()) {
    rejectStoredInTool(inner, `${param}.tools.${index}`)
  }
}
