import { ApiError } from '../errors'

const shape = /^[a-z0-9][a-z0-9._-]{0,39}\/[^]/
const maxLength = 256

/**
 * Splits `<provider>/<model>` at its first slash; the model may hold more of them. Throws
 * `invalid_model`. Source: contract 1.4.
 */
export function splitModelId(id: string): { provider: string; name: string } {
  const provider = parseProvider(id)
  return { provider, name: id.slice(provider.length + 1) }
}

/** The first part of `<provider>/<model>`. Throws `invalid_model`. */
export function parseProvider(id: string): string {
  if (!isModelName(id)) throw new ApiError('invalid_model', { param: 'model' })
  return id.slice(0, id.indexOf('/'))
}

const anyModel = '/*'

/** Whether a list of model ids, and of `<provider>/*`, has a model. Null has all. */
export const isAllowedModel = (id: string, allowed: readonly string[] | null): boolean =>
  allowed === null ||
  allowed.includes(id) ||
  allowed.includes(`${id.slice(0, id.indexOf('/'))}${anyModel}`)

/** Whether a name has two parts at least, the first like a provider's key. */
export const isModelName = (id: string): boolean => id.length <= maxLength && shape.test(id)
