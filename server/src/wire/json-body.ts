import type { z } from 'zod'
import { invalidRequest } from '../errors'
import { toFieldError } from './field-error'
import { bodyShape, ShapeExceeded } from './json-shape'
import { parseInSlices, type Pause } from './json-slices'

/** A JSON object as it arrived. */
export type JsonObject = Record<string, unknown>

/** A body that was read and is a JSON object, and its length on the wire. */
export interface ReadBody {
  body: JsonObject
  bytes: number
}

/** Containers in containers; deeper nesting is refused before anything walks it recursively. */
const deepest = bodyShape.maxDepth

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns a text; an empty one for any other value, which is not converted: an object may be made to throw then. */
export const toText = (value: unknown) => (typeof value === 'string' ? value : '')

/** Returns whether a value is a text and not an empty one. */
export const isNonEmptyText = (value: unknown): value is string =>
  typeof value === 'string' && value !== ''

const noItems: readonly unknown[] = []

/** Returns the elements of a list; none for any other value. */
export const toList = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : noItems

const noObjects: readonly JsonObject[] = []

/** Returns the objects in a list, the list itself where it has nothing else; none for any other value. */
export function toObjects(value: unknown): readonly JsonObject[] {
  if (!Array.isArray(value)) return noObjects
  return value.every(isObject) ? value : value.filter(isObject)
}

/** Texts up to so many characters are parsed at once: none of them has much in it. */
export const maxConcurrent = 64 * 1024

/** Text as a JSON object. Throws `invalid_request` without `param`: bad JSON, no object, too deep. */
export function parseObject(text: string): JsonObject {
  try {
    return checkObject(JSON.parse(text))
  } catch (thrown) {
    throw refusalOf(thrown)
  }
}

/**
 * Reads a JSON object from a text of any length: its shape is counted before it is built, and other
 * requests run in between. Rejects with `invalid_request`, also
 * where a limit is exceeded.
 */
export async function readObject(text: string, pause: Pause): Promise<JsonObject> {
  if (text.length <= maxConcurrent) return parseObject(text)
  try {
    return checkObject(await parseInSlices(text, bodyShape, pause))
  } catch (thrown) {
    throw refusalOf(thrown)
  }
}

function checkObject(value: unknown): JsonObject {
  if (!isObject(value)) {
    throw invalidRequest(null, 'wrong_type', 'The body must be a JSON object.')
  }
  checkNesting(value)
  return value
}

function refusalOf(thrown: unknown): unknown {
  if (thrown instanceof SyntaxError) {
    return invalidRequest(null, 'invalid_json', 'The body is not valid JSON.')
  }
  if (!(thrown instanceof ShapeExceeded)) return thrown
  const { field = null, message } = thrown
  return invalidRequest(field, 'too_many', `${field ?? 'The body'} ${message}.`)
}

/**
 * Rejects a body that is nested too deeply and the key `__proto__`, in the body or in the JSON text of the
 * field `param`.
 */
export function checkNesting(value: JsonObject, param: string | null = null): void {
  if (isShallow(value, 1, param)) return
  const subject = param === null ? 'The body' : `${param}:`
  throw invalidRequest(param, 'too_many', `${subject} is nested deeper than ${deepest} levels.`)
}

/**
 * Returns whether nothing is nested too deeply; throws for the key `__proto__` wherever else it is. Makes
 * no lists, and goes no deeper than is allowed: the depth of a hostile body must not become that of the
 * stack.
 */
function isShallow(value: unknown, depth: number, param: string | null): boolean {
  let isFine = true
  if (Array.isArray(value)) {
    if (depth > deepest) return false
    for (const item of value) isFine = isShallow(item, depth + 1, param) && isFine
  } else if (isObject(value)) {
    if (depth > deepest) return false
    if (Object.hasOwn(value, '__proto__')) {
      throw invalidRequest(param, 'not_allowed', 'The key "__proto__" is not accepted.')
    }
    for (const name in value) isFine = isShallow(value[name], depth + 1, param) && isFine
  }
  return isFine
}

/** Checks an object against a schema. Throws `invalid_request` for the first field at fault. */
export function check<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const result = parseWith(schema, body)
  if (result.success) return result.data
  throw toFieldError(result.error, body)
}

/** zod compares the `length` of whatever has one, also where that is an object without a value. */
function parseWith<Schema extends z.ZodType>(schema: Schema, body: unknown) {
  try {
    return schema.safeParse(body)
  } catch (thrown) {
    const field = thrown instanceof TypeError ? measureByObject(body) : undefined
    if (field === undefined) throw thrown
    const param = field.join('.')
    throw invalidRequest(param, 'wrong_type', `${param}: must be a string or a list.`)
  }
}

/** Returns the path to an object whose `length` is an object. */
function measureByObject(value: unknown): string[] | undefined {
  if (!isObject(value) && !Array.isArray(value)) return undefined
  if (isObject(value) && isObject(value['length'])) return []
  for (const [key, inner] of Object.entries(value)) {
    const path = measureByObject(inner)
    if (path) return [key, ...path]
  }
  return undefined
}
