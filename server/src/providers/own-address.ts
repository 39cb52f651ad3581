import { baseUrlOf } from './bedrock/address'
import type { ProviderRoute } from './provider-route'
import { expressBaseUrl, toVertexBaseUrl } from './vertex/address'
import { isServiceAccount, readServiceAccount } from './vertex/service-account'

const usualLocation = 'global'

/**
 * Returns the address that follows from a connection's credential and options, for a cloud whose address
 * names its region or project; undefined for the provider's own. Throws `invalid_request`.
 */
export function deriveAddress({ provider, connection }: ProviderRoute): string | undefined {
  const { secret, options } = connection
  if (provider.dialect === 'bedrock') {
    return options.region === undefined ? undefined : baseUrlOf(options.region)
  }
  if (provider.dialect !== 'vertex' || secret === null) return undefined
  if (!isServiceAccount(secret)) return expressBaseUrl
  const project = options.project ?? readServiceAccount(secret).projectId
  return toVertexBaseUrl({ project, location: options.location ?? usualLocation })
}
