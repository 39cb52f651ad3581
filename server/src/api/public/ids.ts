import { createHash } from 'node:crypto'
import { idAlphabet, type IdPrefix } from '../../platform/db/id'

/** Derives the id of a built-in provider, which has no row: the same on every installation, and stable. */
export function deriveProviderId(key: string): string {
  const bytes = createHash('sha256').update(`provider ${key}`).digest().subarray(0, 26)
  return `prov_${[...bytes].map((byte) => idAlphabet[byte & 31]).join('')}`
}

/** Derives an id with another prefix from the characters of an existing id. */
export const idAfter = (prefix: IdPrefix, other: string) =>
  `${prefix}_${other.slice(other.indexOf('_') + 1)}`
