import { isBlock, type MessageBlock } from './schema'
import { type JsonObject, toObjects, toText } from '../../wire/json-body'
import { anthropicThoughtFormat } from '../../wire/anthropic-format'
import {
  hasContent,
  isPacked,
  isSigned,
  joinDetails,
  packDetails,
  type ThoughtUnpacker,
} from '../../wire/reasoning-details'

/** The thinking of an assistant's turn as fields of a chat message. */
export function toThoughts(blocks: readonly MessageBlock[], unpacker: ThoughtUnpacker): JsonObject {
  const texts: string[] = []
  const details: JsonObject[] = []
  const add = (sealed: unknown, own: JsonObject) => {
    const index = details.length
    if (isPacked(sealed)) details.push(...unpacker.unpack(sealed))
    else if (sealed) details.push({ ...own, format: anthropicThoughtFormat, index })
  }
  for (const block of blocks) {
    if (isBlock(block, 'thinking')) {
      const { thinking: text, signature } = block
      if (text) texts.push(text)
      add(signature, { type: 'reasoning.text', text, signature })
    } else if (isBlock(block, 'redacted_thinking')) {
      add(block.data, { type: 'reasoning.encrypted', data: block.data })
    }
  }
  return {
    ...(texts.length > 0 && { reasoning_content: texts.join('\n') }),
    ...(details.length > 0 && { reasoning_details: details }),
  }
}

/** A thought that goes back to its model unchanged. */
export type Thought = { text: string; signature: string } | { data: string }

/** The fragments of an answer's thoughts that wait for a signature at once; of more, the oldest are given up. */
const maxUnsigned = 100

/**
 * Reads the thoughts in the fields of deltas, where one may come in fragments: each is returned once it is signed.
 * Those of other vendors than Anthropic are packed into a signature, which clients send back as they send back
 * Anthropic's own.
 */
export class ThoughtReader {
  /** Fragments whose signature is to come. */
  #unsigned: JsonObject[] = []

  add(fields: JsonObject): Thought[] {
    const details = toObjects(fields['reasoning_details']).filter(hasContent)
    if (details.length === 0) return []
    const joinedDetails = joinDetails([...this.#unsigned, ...details])
    this.#unsigned = joinedDetails.filter((detail) => !isSigned(detail)).slice(-maxUnsigned)
    return joinedDetails.filter(isSigned).flatMap(toThought)
  }
}

/** None for a thought that could not be read when it comes back. */
function toThought(detail: JsonObject): Thought[] {
  const { data, format } = detail
  const text = toText(detail['text'])
  if (format !== anthropicThoughtFormat) {
    const signature = packDetails([detail])
    return signature === undefined ? [] : [{ text, signature }]
  }
  return [typeof data === 'string' ? { data } : { text, signature: toText(detail['signature']) }]
}
