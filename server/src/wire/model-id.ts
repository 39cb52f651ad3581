import { ApiError } from '../errors'

const providerShape = /^[a-z0-9][a-z0-9._-]{0,39}$/
const longest = 256

/**
 * Splits `<provider>/<model>` at its first slash; the model may hold more of them. Throws
 * `invalid_model`. Source: api.md 1.4.
 */
export function splitModelId(id: string): { provider: string; name: string } {
  if (!isModelName(id)) throw new ApiError('invalid_model', { param: 'model' })
  const slash = id.indexOf('/')
  return { provider: id.slice(0, slash), name: id.slice(slash + 1) }
}

/** Whether a name has two parts at least, the first like a provider's key. */
export function isModelName(id: string): boolean {
  const slash = id.indexOf('/')
  const hasParts = slash > 0 && slash < id.length - 1
  return hasParts && id.length <= longest && providerShape.test(id.slice(0, slash))
}
