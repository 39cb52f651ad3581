import { invalidAnswer, type ErrorSource } from './upstream-error'
import type { JsonObject } from '../wire/json-body'

/** Fields by which providers give numbers of another kind than 32-bit floats, of which several can be in one. */
const kindFields = ['output_dtype', 'embedding_type'] as const
const floats: ReadonlySet<unknown> = new Set([undefined, null, 'float', 'base64'])

/** The numbers of an embedding; of base64 its 32-bit floats. */
export const widthOf = (embedding: readonly number[] | string): number =>
  typeof embedding === 'string' ? Buffer.byteLength(embedding, 'base64') / 4 : embedding.length

/** Returns the width that a request asks for; undefined where it does not say, or asks for other numbers than floats. */
export function requestedWidth(body: JsonObject): number | undefined {
  const { dimensions } = body
  const isFloats = kindFields.every((name) => floats.has(body[name]))
  return typeof dimensions === 'number' && isFloats ? dimensions : undefined
}

/**
 * Requires embeddings of one width, the requested one if there is one: a caller cannot store others beside them. Throws
 * `provider_error`.
 */
export function checkWidths(
  embeddings: readonly (readonly number[] | string)[],
  requested: number | undefined,
  { provider }: Pick<ErrorSource, 'provider'>,
): void {
  const [first] = embeddings
  if (first === undefined) return
  const expected = requested ?? widthOf(first)
  const wrong = embeddings.find((embedding) => widthOf(embedding) !== expected)
  if (wrong === undefined) return
  throw invalidAnswer(provider, `an embedding of ${widthOf(wrong)} numbers instead of ${expected}`)
}
