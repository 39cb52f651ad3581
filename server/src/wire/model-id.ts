import { ApiError } from '../errors'

const providerShape = /^[a-z0-9][a-z0-9._-]{0,39}$/
const longest = 256

/**
 * Splits `<provider>/<model>` at its first slash; the model may hold more of them. Throws
 * `invalid_model`. Source: api.md 1.4.
 */
export function splitModelId(id: string): { provider: string; name: string } {
  const slash = id.indexOf('/')
  const provider = id.slice(0, slash)
  const name = id.slice(slash + 1)
  const fits = slash > 0 && name !== '' && id.length <= longest && providerShape.test(provider)
  if (!fits) throw new ApiError('invalid_model', { param: 'model' })
  return { provider, name }
}
