import { z } from 'zod'
import { invalidRequest } from '../errors'

/** First parts of model ids and of paths with another meaning. Source: contract 6.6. */
const reserved = new Set(
  'collection auto admin api v1 native docs system support tollgate'.split(' '),
)

/** A handle or a slug: both share one name space. Source: contract 6.6. */
export const publicName = z
  .string()
  .min(3)
  .max(30)
  .regex(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/, {
    error: 'must be lower-case letters, digits and single hyphens, and begin with a letter.',
  })

type Providers = { has: (key: string) => boolean }

/** Whether a name has another meaning, such as the key of a provider. */
export const isReserved = (name: string, providers: Providers): boolean =>
  reserved.has(name) || providers.has(name)

/** Throws `reserved` for names with another meaning. */
export function checkReserved(param: string, name: string, providers: Providers): void {
  if (!isReserved(name, providers)) return
  throw invalidRequest(param, 'reserved', `${param}: "${name}" is reserved.`)
}
