import { withoutSecrets } from './redact-body'
import { storable } from '../platform/db/storable'
import type { JsonObject } from '../wire/json-body'

/** Characters of a name, and of the metadata of a request. */
export const maxName = 256
const maxMetadata = 10_000

/** Returns a text that can be stored, cut to a maximum length. */
export const clean = (text: string, maxLength: number): string =>
  storable(text.length > maxLength ? text.slice(0, maxLength) : text)

/** Redacts keys in a text field that should hold none. */
export const harmless = (text: string, maxLength: number): string =>
  withoutSecrets(clean(text, maxLength))

/**
 * Returns metadata unchanged, unless PostgreSQL would refuse it or it contains a key; metadata that is too large is
 * left out.
 */
export function toStoredMetadata(metadata: object): JsonObject | null {
  const text = JSON.stringify(metadata)
  if (text.length > maxMetadata) return null
  const isPlain = !/\\u(0000|d[89a-f])/i.test(text) && withoutSecrets(text) === text
  if (isPlain) return { ...metadata }
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [
      harmless(name, maxName),
      typeof value === 'string' ? harmless(value, maxMetadata) : null,
    ]),
  )
}
