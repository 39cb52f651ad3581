import { isObject, maxConcurrent, type JsonObject } from '../wire/json-body'
import { answerShape, bodyShape, type ShapeLimits } from '../wire/json-shape'
import { parseInSlices, type Pause } from '../wire/json-slices'

/** The limits of a history that a request continues: twice the structure of a body. */
export const historyShape: ShapeLimits = {
  maxDepth: answerShape.maxDepth + 1,
  maxNodes: 2 * bodyShape.maxNodes,
  // As many as so many nodes may have, where a value in a list counts a quarter.
  maxValues: 12 * bodyShape.maxNodes,
  maxNames: answerShape.maxNames,
}

const scalarWeight = 0.25

/**
 * Returns the objects, lists and names of a parsed value, and a quarter of the other values in lists: what its structure
 * costs the request that reads it.
 */
export function weigh(value: unknown): number {
  if (Array.isArray(value)) {
    let weight = 1
    for (const item of value) weight += weigh(item) || scalarWeight
    return weight
  }
  if (!isObject(value)) return 0
  let weight = 1
  for (const name in value) weight += 1 + weigh(value[name])
  return weight
}

/**
 * Parses stored texts together, as the body of a request is parsed: what they hold is counted before it is built, and
 * other requests run in between. Rejects with `ShapeExceeded`.
 */
export async function parseStored(
  texts: readonly string[],
  limits: ShapeLimits,
  pause: Pause,
): Promise<unknown[]> {
  const text = `[${texts.join()}]`
  const isShort = text.length <= maxConcurrent
  const parsed: unknown = isShort ? JSON.parse(text) : await parseInSlices(text, limits, pause)
  return Array.isArray(parsed) ? parsed : []
}

/** Parses stored texts of objects. */
export const parseObjects = async (
  texts: readonly string[],
  limits: ShapeLimits,
  pause: Pause,
): Promise<JsonObject[]> =>
  (await parseStored(texts, limits, pause)).map((value) => (isObject(value) ? value : {}))
