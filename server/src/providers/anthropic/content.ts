import { invalidRequest } from '../../errors'
import { readCacheControl } from '../../wire/cache-control'
import type { JsonObject } from '../../wire/json-body'
import type { ContentPart } from '../history'
import { unsupported } from '../unsupported-fields'
import type { ChatMessage } from '../../wire/chat-request'

/** A content block of the Messages format. */
export type AnthropicBlock = JsonObject & { type: string }

const dataUrl = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w-]+=[^;,]*)*;base64,(.*)$/s

/** The blocks of a message's content; blank texts, which are rejected there, are left out. */
export function toBlocks(content: ChatMessage['content'], path: string): AnthropicBlock[] {
  if (content === null || content === undefined) return []
  if (typeof content === 'string') return textBlocks(content)
  const blocks: AnthropicBlock[] = []
  for (const [position, part] of content.entries()) {
    blocks.push(...toPartBlocks(part, `${path}.${position}`))
    markLast(blocks, part)
  }
  return blocks
}

/** Puts the breakpoint that `holder` carries at the end of blocks: it means all that stands before it. */
export function markLast(blocks: readonly AnthropicBlock[], holder: JsonObject): void {
  const control = readCacheControl(holder)
  const last = blocks.at(-1)
  if (control && last) last['cache_control'] = control
}

/** Returns the blocks of a message, for roles that have only text. */
export function toTextBlocks(content: ChatMessage['content'], path: string): AnthropicBlock[] {
  if (Array.isArray(content)) {
    const position = content.findIndex(({ type }) => type !== 'text' && type !== 'refusal')
    if (position >= 0) throw unsupported(`${path}.${position}`, 'Only text is allowed here.')
  }
  return toBlocks(content, path)
}

const textBlocks = (text: string): AnthropicBlock[] =>
  text.trim() === '' ? [] : [{ type: 'text', text }]

function toPartBlocks(part: ContentPart, path: string): AnthropicBlock[] {
  switch (part.type) {
    case 'text':
      return textBlocks(part.text)
    case 'refusal':
      return textBlocks(part.refusal)
    case 'image_url':
      return [toImage(part.image_url.url, path)]
    case 'file':
      return [toDocument(part.file, path)]
    case 'input_audio':
    default:
      throw unsupported(path, 'This model does not accept audio.')
  }
}

function toImage(url: string, path: string): AnthropicBlock {
  const data = dataUrl.exec(url)
  if (data) return { type: 'image', source: toBase64(data) }
  if (url.startsWith('data:')) {
    throw invalidRequest(`${path}.image_url.url`, 'bad_format', 'This is not a base64 data URL.')
  }
  return { type: 'image', source: { type: 'url', url } }
}

const toBase64 = ([, mediaType, data]: RegExpExecArray) => ({
  type: 'base64',
  media_type: mediaType,
  data,
})

function toDocument(file: (ContentPart & { type: 'file' })['file'], path: string): AnthropicBlock {
  if (!file.file_data) {
    throw unsupported(`${path}.file.file_id`, 'Send the file itself, in file_data.')
  }
  const data = dataUrl.exec(file.file_data)
  if (!data) {
    throw invalidRequest(`${path}.file.file_data`, 'bad_format', 'This is not a base64 data URL.')
  }
  const [, mediaType = '', text = ''] = data
  if (mediaType.startsWith('image/')) return { type: 'image', source: toBase64(data) }
  const filename = file['filename']
  const title = typeof filename === 'string' && filename !== '' ? { title: filename } : {}
  if (mediaType === 'application/pdf') {
    return { type: 'document', source: toBase64(data), ...title }
  }
  if (!mediaType.startsWith('text/')) {
    throw unsupported(`${path}.file.file_data`, `This model does not support ${mediaType}.`)
  }
  const plain = Buffer.from(text, 'base64').toString('utf8')
  const source = { type: 'text', media_type: 'text/plain', data: plain }
  return { type: 'document', source, ...title }
}
