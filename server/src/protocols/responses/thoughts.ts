import { checkNesting, isObject, type JsonObject, toObjects } from '../../wire/json-body'
import { eventShape } from '../../wire/json-shape'
import { parseShaped } from '../../wire/json-slices'

/**
 * Thoughts as their providers signed or encrypted them travel through chat clients in
 * `reasoning_details`. Here they travel in the one field that clients of this format send back, which
 * means nothing to them.
 */
const mark = 'tg1.'

export const packThoughts = (details: readonly JsonObject[]): string =>
  mark + Buffer.from(JSON.stringify(details)).toString('base64')

/** The form of OpenAI's own thoughts in chat. Other providers cannot read them, and leave them out. */
const ofOpenAi = { type: 'reasoning.encrypted', format: 'openai-responses-v1' }

/** Reads the thoughts of an item: those that were packed here, or those that OpenAI itself encrypted. */
export function readThoughts({ encrypted_content: data, id }: JsonObject): JsonObject[] {
  if (typeof data !== 'string' || data === '') return []
  if (data.startsWith(mark)) return unpackThoughts(data)
  return [{ ...ofOpenAi, data, ...(typeof id === 'string' && { id }) }]
}

function unpackThoughts(packed: string): JsonObject[] {
  try {
    const text = Buffer.from(packed.slice(mark.length), 'base64').toString()
    const details: unknown = parseShaped(text, eventShape)
    // As deep as any body may be, and no deeper.
    checkNesting({ details })
    return toObjects(details)
  } catch {
    return []
  }
}

/**
 * Returns a request in the form that OpenAI reads: thoughts that were packed here become its own again,
 * and those of other vendors are left out. The same object where there are none.
 */
export function withOwnThoughts(body: JsonObject): JsonObject {
  const { input } = body
  if (!Array.isArray(input) || !input.some(isPacked)) return body
  return {
    ...body,
    input: input.flatMap((item: unknown) => (isPacked(item) ? unpackItem(item) : [item])),
  }
}

const isPacked = (item: unknown): item is JsonObject =>
  isObject(item) &&
  item['type'] === 'reasoning' &&
  typeof item['encrypted_content'] === 'string' &&
  item['encrypted_content'].startsWith(mark)

const unpackItem = (item: JsonObject): JsonObject[] =>
  readThoughts(item).flatMap(({ format, data, id }) => {
    if (format !== ofOpenAi.format) return []
    const named = typeof id === 'string' ? { id } : {}
    return [{ type: 'reasoning', ...named, summary: [], encrypted_content: data }]
  })
