import { createHash } from 'node:crypto'
import type { JsonObject } from '../../wire/json-body'

/** The most characters that OpenAI takes of each. */
const maxLength = 64

const identifiers = ['user', 'safety_identifier', 'prompt_cache_key'] as const

/** An identifier of an end user or a cache as OpenAI takes it: of a longer one its SHA-256, the same each time. */
export const boundedIdentifier = (value: unknown): unknown =>
  typeof value === 'string' && value.length > maxLength
    ? createHash('sha256').update(value).digest('hex')
    : value

/** Bounds the identifiers of a request in place. */
export function boundIdentifiers(body: JsonObject): void {
  for (const name of identifiers) {
    if (body[name] !== undefined) body[name] = boundedIdentifier(body[name])
  }
}
