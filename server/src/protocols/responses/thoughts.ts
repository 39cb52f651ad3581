import { isObject, type JsonObject, toObjects, toText } from '../../wire/json-body'
import {
  isPacked,
  isSigned,
  joinDetails,
  openAiThoughtFormat,
  packDetails,
  ThoughtUnpacker,
} from '../../wire/reasoning-details'

/**
 * Packs the thoughts of an item for `encrypted_content`, the one field that clients of this format send back: those
 * that came in `reasoning_details`, else their text, as some clients send back nothing else.
 */
export function packThoughts(details: readonly JsonObject[], text: string): string | undefined {
  const whole = joinDetails(details)
  const packed = whole.length > 0 ? packDetails(whole) : undefined
  if (packed !== undefined) return packed
  return text === '' ? undefined : packDetails([{ type: 'reasoning.text', text }])
}

/** The thoughts of an item. */
interface ItemThoughts {
  text: string
  /** Those that their provider needs back as they were. */
  details: JsonObject[]
}

/**
 * Reads the thoughts of an item: its text, and what was packed here or what OpenAI itself encrypted. Some servers send
 * raw thoughts as `content`, beside a summary of them.
 */
export function readThoughts(item: JsonObject, unpacker: ThoughtUnpacker): ItemThoughts {
  const details = readDetails(item, unpacker)
  const text = textOf(item['content']) || textOf(item['summary']) || textOf(details)
  return { text, details: details.filter((detail) => !isTextAlone(detail)) }
}

function readDetails(
  { encrypted_content: data, id }: JsonObject,
  unpacker: ThoughtUnpacker,
): readonly JsonObject[] {
  if (typeof data !== 'string' || data === '') return []
  if (isPacked(data)) return unpacker.unpack(data)
  const idField = typeof id === 'string' ? { id } : {}
  return [{ type: 'reasoning.encrypted', format: openAiThoughtFormat, data, ...idField }]
}

const paragraph = '\n\n'

const textOf = (parts: unknown): string =>
  toObjects(parts)
    .map(({ text }) => toText(text))
    .filter((text) => text !== '')
    .join(paragraph)

/** The text of a provider that marks its thoughts in no way. */
const isTextAlone = (detail: JsonObject): boolean =>
  detail['format'] === undefined && !isSigned(detail)

/**
 * Returns a request in the form that OpenAI reads: thoughts that were packed here become its own again,
 * and those of other vendors are left out. The same object where there are none.
 */
export function withOwnThoughts(body: JsonObject): JsonObject {
  const { input } = body
  if (!Array.isArray(input) || !input.some(isPackedItem)) return body
  const unpacker = new ThoughtUnpacker()
  return {
    ...body,
    input: input.flatMap((item: unknown) =>
      isPackedItem(item) ? unpackItem(item, unpacker) : [item],
    ),
  }
}

const isPackedItem = (item: unknown): item is JsonObject =>
  isObject(item) && item['type'] === 'reasoning' && isPacked(item['encrypted_content'])

const unpackItem = (item: JsonObject, unpacker: ThoughtUnpacker): JsonObject[] =>
  readDetails(item, unpacker).flatMap(({ format, data, id }) => {
    if (format !== openAiThoughtFormat) return []
    const idField = typeof id === 'string' ? { id } : {}
    return [{ type: 'reasoning', ...idField, summary: [], encrypted_content: data }]
  })
