import { isBlock, type MessageBlock } from './schema'
import { type JsonObject, toObjects } from '../../wire/json-body'
import { anthropicThoughtFormat } from '../../wire/anthropic-format'

/** The thinking of an assistant's turn as fields of a chat message. */
export function toThoughts(blocks: readonly MessageBlock[]): JsonObject {
  const texts: string[] = []
  const details: JsonObject[] = []
  for (const block of blocks) {
    if (isBlock(block, 'thinking')) {
      const { thinking: text, signature } = block
      if (text) texts.push(text)
      if (signature) details.push({ type: 'reasoning.text', text, signature })
    } else if (isBlock(block, 'redacted_thinking')) {
      details.push({ type: 'reasoning.encrypted', data: block.data })
    }
  }
  return {
    ...(texts.length > 0 && { reasoning_content: texts.join('\n') }),
    ...(details.length > 0 && {
      reasoning_details: details.map((detail, index) => ({
        ...detail,
        format: anthropicThoughtFormat,
        index,
      })),
    }),
  }
}

/** A thought that goes back to its model unchanged. */
export type Thought = { text: string; signature: string } | { data: string }

/**
 * Reads the thoughts in the fields of a delta or of a message; those of other vendors' models cannot be
 * represented.
 */
export function readThoughts(fields: JsonObject): Thought[] {
  const details = fields['reasoning_details']
  return toObjects(details).flatMap((detail): Thought[] => {
    const { type, text, signature, data } = detail
    if (detail['format'] !== anthropicThoughtFormat) return []
    if (type === 'reasoning.encrypted' && typeof data === 'string') return [{ data }]
    if (typeof signature !== 'string' || signature === '') return []
    return [{ text: typeof text === 'string' ? text : '', signature }]
  })
}
