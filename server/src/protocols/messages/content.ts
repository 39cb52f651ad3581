import {
  isContentBlock,
  type MessageBlock,
  type DocumentBlock,
  type ImageSource,
  type MessageContentBlock,
} from './schema'
import { invalidRequest, type ApiError } from '../../errors'
import type { JsonObject } from '../../wire/json-body'

/**
 * Receives each feature that only Anthropic itself supports; `unmeasured`: only Anthropic knows its size,
 * so that no hold covers it.
 */
export type Refuse = (error: ApiError, size?: 'unmeasured') => void

/** Something that has no counterpart in the format of others. */
export const onlyAnthropic = (param: string, message: string): ApiError =>
  invalidRequest(param, 'unsupported_by_model', `${param}: ${message}`)

/** Turns blocks into parts of a chat message. `path` is the position of the blocks in the request. */
export const toParts = (
  blocks: readonly MessageBlock[],
  path: string,
  refuse: Refuse,
): JsonObject[] =>
  blocks.flatMap((block, position) =>
    isContentBlock(block) ? toContentParts(block, `${path}.${position}`, refuse) : [],
  )

/** Refuses blocks that are no content of a chat, in a place where they would mean something. */
export function refuseForeign(blocks: readonly MessageBlock[], path: string, refuse: Refuse): void {
  for (const [position, block] of blocks.entries()) {
    if (isContentBlock(block) || isToolName(block)) continue
    refuse(onlyAnthropic(`${path}.${position}`, `this model cannot read "${block.type}".`))
  }
}

/** The result of a search for tools; other models have all tools from the beginning. */
const isToolName = ({ type }: MessageBlock) => type === 'tool_reference'

/** Returns text where there is nothing else, which every provider takes. */
export function toContent(parts: readonly JsonObject[]): string | readonly JsonObject[] {
  const [only] = parts
  const isPlain = parts.length === 1 && only?.['type'] === 'text' && !only['cache_control']
  return isPlain ? String(only['text']) : parts
}

function toContentParts(block: MessageContentBlock, path: string, refuse: Refuse): JsonObject[] {
  const parts = convertBlock(block, path, refuse)
  const control = block.cache_control
  const last = parts.at(-1)
  // The last of them: the mark means all that stands before it.
  return control && last ? [...parts.slice(0, -1), { ...last, cache_control: control }] : parts
}

const textPart = (text: string): JsonObject => ({ type: 'text', text })

function convertBlock(block: MessageContentBlock, path: string, refuse: Refuse): JsonObject[] {
  switch (block.type) {
    case 'text':
      return [textPart(block.text)]
    case 'image':
      return toImage(block.source, `${path}.source`, refuse)
    case 'document':
      return toDocument(block, path, refuse)
    case 'search_result':
    default: {
      const texts = block.content.map(({ text }) => text).join('\n')
      return [textPart(`${block.title}\n${block.source}\n\n${texts}`)]
    }
  }
}

/** The part in the place of a block that is refused, or that only Anthropic gets. */
export const emptyText = textPart('')

const noFetching = 'documents are not fetched. Send the document as base64.'
const noFiles = 'this model cannot read files stored at Anthropic. Send the file as base64.'

function toImage(source: ImageSource, path: string, refuse: Refuse): JsonObject[] {
  switch (source.type) {
    case 'base64': {
      const url = `data:${source.media_type};base64,${source.data}`
      return [{ type: 'image_url', image_url: { url } }]
    }
    case 'url':
      return [{ type: 'image_url', image_url: { url: source.url } }]
    case 'file':
    default:
      refuse(onlyAnthropic(`${path}.file_id`, noFiles), 'unmeasured')
      return [emptyText]
  }
}

/** Passes a text on as text, which all models read; any other document becomes a file. */
function toDocument(document: DocumentBlock, path: string, refuse: Refuse): JsonObject[] {
  const { source, title, context } = document
  const head = [title, context].filter((text) => text).join('\n')
  const headed = (text: string) => textPart(head ? `${head}\n\n${text}` : text)
  switch (source.type) {
    case 'base64': {
      const file_data = `data:${source.media_type};base64,${source.data}`
      const file = { filename: title ?? 'document.pdf', file_data }
      return [...(context ? [textPart(context)] : []), { type: 'file', file }]
    }
    case 'text':
      return [headed(source.data)]
    case 'content': {
      const { content } = source
      if (typeof content === 'string') return [headed(content)]
      const parts = toParts(content, `${path}.source.content`, refuse)
      return head ? [textPart(head), ...parts] : parts
    }
    case 'url':
      refuse(onlyAnthropic(`${path}.source.url`, noFetching), 'unmeasured')
      return [emptyText]
    case 'file':
    default:
      refuse(onlyAnthropic(`${path}.source.file_id`, noFiles), 'unmeasured')
      return [emptyText]
  }
}
