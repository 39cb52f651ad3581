import { withAllowed, type SharedCredential, type SharedUse } from './credential'
import { rejectReferenceFields, withListedFields } from './relayed-body'
import { rejectStored, rejectUnlisted } from './rejections'
import { isPublicUrl } from './stored-references'
import { isObject, type JsonObject } from '../wire/json-body'

/**
 * Content blocks of the published SDK, in what a user or the model says and inside of results. Not `container_upload`,
 * which names a file of the provider's account.
 */
export const messageBlocks: ReadonlySet<string> = new Set([
  'text',
  'image',
  'document',
  'search_result',
  'thinking',
  'redacted_thinking',
  'compaction',
  'tool_use',
  'tool_result',
  'tool_reference',
  'tool_addition',
  'tool_removal',
  'fallback',
  'server_tool_use',
  'web_search_tool_result',
  'web_fetch_tool_result',
  'advisor_tool_result',
  'tool_search_tool_result',
  'code_execution_tool_result',
  'bash_code_execution_tool_result',
  'text_editor_code_execution_tool_result',
  'mcp_tool_use',
  'mcp_tool_result',
  'mcp_tool_listing',
  'browser_state',
])

/** Kinds of tools, without the date at their end. Not `advisor`, by which another model answers. */
export const messageTools: ReadonlySet<string> = new Set([
  'custom',
  'bash',
  'text_editor',
  'computer',
  'computer_toolset',
  'memory',
  'browser',
  'browser_toolset',
  'tool_search_tool_regex',
  'tool_search_tool_bm25',
  'web_search',
  'web_fetch',
  'code_execution',
  'mcp_toolset',
])

/** Sources of images and documents that carry their content, or that everybody can read. */
const sources: ReadonlySet<string> = new Set(['base64', 'url', 'text', 'content'])

/** Returns the kind of a tool or beta, whose name ends in a date. */
export const withoutDate = (name: string): string => name.replace(/[-_]\d{4}-?\d{2}-?\d{2}$/, '')

/** Nothing that names a file is deeper. */
const deepest = 5

/** Throws `invalid_request` where a request in Anthropic's format names what the provider's account holds. */
export function rejectStoredInMessages(body: JsonObject, credential: SharedCredential): void {
  rejectReferenceFields(body, 'messages', credential)
  rejectFilesIn(body['system'], 'system')
  const { messages } = body
  if (!Array.isArray(messages)) return
  for (let index = 0; index < messages.length; index++) {
    const turn: unknown = messages[index]
    const content: unknown = isObject(turn) ? turn['content'] : undefined
    if (Array.isArray(content)) rejectFilesIn(content, `messages.${index}.content`)
  }
}

/**
 * Returns a request in Anthropic's format without fields that are not listed; the same object where all are. Throws
 * `invalid_request` for blocks and tools that are not listed, and for fields that cannot just be left out.
 */
export function toListedMessages(body: JsonObject, { credential, omit }: SharedUse): JsonObject {
  const blocks = withAllowed(messageBlocks, credential, 'blocks')
  const { messages, system, tools } = body
  const listed = withListedFields(body, { format: 'messages', credential, omit })
  rejectUnlistedTools(tools, withAllowed(messageTools, credential, 'blocks'))
  rejectUnlistedBlocks(system, 'system', blocks)
  if (!Array.isArray(messages)) return listed
  for (let index = 0; index < messages.length; index++) {
    const turn: unknown = messages[index]
    const content: unknown = isObject(turn) ? turn['content'] : undefined
    if (Array.isArray(content)) rejectUnlistedBlocks(content, `messages.${index}.content`, blocks)
  }
  return listed
}

function rejectUnlistedTools(tools: unknown, list: ReadonlySet<string>): void {
  if (!Array.isArray(tools)) return
  for (let index = 0; index < tools.length; index++) {
    const tool: unknown = tools[index]
    const type: unknown = isObject(tool) ? tool['type'] : undefined
    if (typeof type !== 'string' || list.has(type) || list.has(withoutDate(type))) continue
    throw rejectUnlisted(`tools.${index}.type`)
  }
}

function rejectUnlistedBlocks(content: unknown, param: string, list: ReadonlySet<string>): void {
  if (!Array.isArray(content)) return
  for (let at = 0; at < content.length; at++) {
    const block: unknown = content[at]
    const type: unknown = isObject(block) ? block['type'] : undefined
    if (typeof type === 'string' && !list.has(type)) throw rejectUnlisted(`${param}.${at}.type`)
  }
}

/** Checks the blocks of a turn, and those of the results and documents among them. */
function rejectFilesIn(content: unknown, param: string): void {
  if (!Array.isArray(content)) return
  for (let at = 0; at < content.length; at++) {
    const block: unknown = content[at]
    if (!isObject(block)) continue
    if (block['file_id'] || block['source'] || block['content']) {
      rejectFiles(block, `${param}.${at}`, 0)
    }
  }
}

/** Throws where a block, its source or its content names a file of the provider's account. */
function rejectFiles(holder: JsonObject, param: string, depth: number): void {
  const { source, content, file_id: id } = holder
  if (id) throw rejectStored(`${param}.file_id`)
  if (depth >= deepest) return
  if (isObject(source)) rejectSource(source, `${param}.source`, depth)
  if (isObject(content)) rejectFiles(content, `${param}.content`, depth + 1)
  if (!Array.isArray(content)) return
  for (let at = 0; at < content.length; at++) {
    const inner: unknown = content[at]
    if (isObject(inner)) rejectFiles(inner, `${param}.content.${at}`, depth + 1)
  }
}

function rejectSource(source: JsonObject, param: string, depth: number): void {
  const { type, url } = source
  if (type === 'file' || source['file_id']) throw rejectStored(`${param}.file_id`)
  if (typeof type === 'string' && !sources.has(type)) throw rejectUnlisted(`${param}.type`)
  if (typeof url === 'string' && !isPublicUrl(url)) throw rejectStored(`${param}.url`)
  rejectFiles(source, param, depth + 1)
}
