import { isObject, type JsonObject } from '../../wire/json-body'

/**
 * Thoughts as their providers signed or encrypted them travel through chat clients in
 * `reasoning_details`. Here they travel in the one field that clients of this format send back, which
 * means nothing to them.
 */
const mark = 'tg1.'

export const packThoughts = (details: readonly JsonObject[]): string =>
  mark + Buffer.from(JSON.stringify(details)).toString('base64')

/** What was packed; nothing where it was made elsewhere, such as by OpenAI itself. */
export function thoughtsIn(packed: string | null | undefined): JsonObject[] {
  if (!packed?.startsWith(mark)) return []
  try {
    const text = Buffer.from(packed.slice(mark.length), 'base64').toString()
    const details: unknown = JSON.parse(text)
    return Array.isArray(details) ? details.filter(isObject) : []
  } catch {
    return []
  }
}
