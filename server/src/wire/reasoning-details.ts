import { checkNesting, isNonEmptyText, type JsonObject, toObjects, toText } from './json-body'
import { bodyShape, type ShapeLimits } from './json-shape'
import { parseShaped } from './json-slices'

/**
 * Thoughts as their providers signed or encrypted them, in the field and the form that OpenRouter gave them:
 * `reasoning_details` of a message.
 * @see https://openrouter.ai/docs/use-cases/reasoning-tokens
 */

/** Marks thoughts that OpenAI's models encrypted: only OpenAI can read them. */
export const openAiThoughtFormat = 'openai-responses-v1'

/** Returns whether a thought carries what its provider needs back: a signature, or all of it encrypted. */
export const isSigned = ({ data, signature }: JsonObject): boolean =>
  isNonEmptyText(data) || isNonEmptyText(signature)

/** Returns whether a thought has any content. Some servers send empty ones with every piece of their answer. */
export const hasContent = (detail: JsonObject): boolean =>
  isSigned(detail) || isNonEmptyText(detail['text']) || isNonEmptyText(detail['summary'])

const textTypes: ReadonlySet<unknown> = new Set(['reasoning.text', 'reasoning.summary'])

/**
 * Joins the fragments of thoughts, as streams carry them and some clients send them back: a text in pieces, and the
 * signature behind it. Fragments of one thought have the same type, index and format. A piece of text behind a
 * signature begins another thought.
 */
export function joinDetails(details: unknown): JsonObject[] {
  const joinedDetails: JsonObject[] = []
  const open = new Map<string, JsonObject>()
  for (const detail of toObjects(details)) {
    const { type = 'reasoning.text', format, index } = detail
    const key = [type, index, format].join(' ')
    const earlier = open.get(key)
    if (!textTypes.has(type) || isNonEmptyText(detail['data'])) joinedDetails.push(detail)
    else if (earlier && continues(earlier, detail)) append(earlier, detail)
    else {
      const copy = { type, ...detail }
      joinedDetails.push(copy)
      open.set(key, copy)
    }
  }
  return joinedDetails
}

/** A signature may come in pieces, too. */
const continues = (earlier: JsonObject, { text }: JsonObject): boolean =>
  !isNonEmptyText(earlier['signature']) || typeof text !== 'string'

const fragmented: ReadonlySet<string> = new Set(['text', 'summary', 'signature'])

function append(earlier: JsonObject, detail: JsonObject): void {
  for (const name in detail) {
    const piece = detail[name]
    if (!fragmented.has(name)) earlier[name] = piece
    else if (typeof piece === 'string') earlier[name] = toText(earlier[name]) + piece
  }
}

/** Begins thoughts that Tollgate packed. Signatures of providers are base64, which has no dot. */
const mark = 'tg1.'

/** The shape of packed thoughts: a few objects of a few fields. */
const packedShape: ShapeLimits = {
  maxDepth: 16,
  maxNodes: 10_000,
  maxValues: 20_000,
  maxNames: 100,
}

const toPacked = (details: readonly JsonObject[]): string =>
  mark + Buffer.from(JSON.stringify(details)).toString('base64')

/**
 * Packs thoughts into one text, for formats that have one field for a signature of their own: `encrypted_content` of
 * Responses and `signature` of Messages. It means nothing to clients, which send it back. Undefined for thoughts that
 * would not be unpacked: in more pieces, or nested deeper, than any provider makes.
 */
export function packDetails(details: readonly JsonObject[]): string | undefined {
  const packed = toPacked(details)
  return new ThoughtUnpacker().unpack(packed).length === details.length ? packed : undefined
}

export const isPacked = (text: unknown): text is string =>
  typeof text === 'string' && text.startsWith(mark)

/** Unpacks the thoughts of one request: together they have no more in them than a body could have unpacked. */
export class ThoughtUnpacker {
  #nodes = bodyShape.maxNodes

  /**
   * Unpacks thoughts; none where the text was cut or forged. They prove nothing by themselves: a client could send the
   * same in a chat, and their provider checks what it signed.
   */
  unpack(packed: string): readonly JsonObject[] {
    if (this.#nodes === 0) return []
    try {
      const text = Buffer.from(packed.slice(mark.length), 'base64').toString()
      const details: unknown = parseShaped(text, packedShape)
      // As deep as any body may be, and no deeper.
      checkNesting({ details })
      this.#nodes = Math.max(0, this.#nodes - countNodes(details))
      return this.#nodes > 0 ? toObjects(details) : []
    } catch {
      return []
    }
  }
}

/** Counts objects, lists and names, as `ShapeLimits` does. */
function countNodes(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const members: unknown[] = Object.values(value)
  const names = Array.isArray(value) ? 0 : members.length
  return members.reduce<number>((sum, member) => sum + countNodes(member), 1 + names)
}
