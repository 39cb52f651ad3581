import { createHash } from 'node:crypto'
import type { IdPrefix } from '../../db/id'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** The id of a provider that comes with Tollgate and has no row: the same everywhere, and for ever. */
export function deriveProviderId(key: string): string {
  const bytes = createHash('sha256').update(`provider ${key}`).digest().subarray(0, 26)
  return `prov_${[...bytes].map((byte) => alphabet[byte & 31]).join('')}`
}

/** The id of what stands for something else, with that one's characters. */
export const idAfter = (prefix: IdPrefix, other: string) =>
  `${prefix}_${other.slice(other.indexOf('_') + 1)}`
