import type { Offer } from './offer'
import type { Settings } from './settings'

const maxListed = 20

/** Formats what would be served: as text, and as JSON. */
export function formatCheck({ address, tools, servers }: Settings, offer: Offer) {
  const { models, tools: announced } = offer.announcement()
  const json = {
    url: address,
    servers: offer.servers.map((one) => ({
      provider: one.provider,
      base_url: one.baseUrl,
      has_key: 'authorization' in one.headers,
      models: [...one.models],
      error: one.failure ?? null,
    })),
    tools: announced.map(({ name, description }) => ({ name, description })),
  }
  const lines = [
    `Tollgate: ${address}`,
    ...json.servers.map(serverLine),
    ...(json.servers.length === 0 ? [servers ? 'No servers.' : 'No model server runs here.'] : []),
    ...announced.map(({ name }) => `tool ${name}`),
    ...(tools.length > 0 && announced.length === 0 ? ['No tools.'] : []),
  ]
  const hasOffer = models.length > 0 || announced.length > 0
  return { text: `${lines.join('\n')}\n`, json, hasOffer }
}

interface Row {
  provider: string
  base_url: string
  has_key: boolean
  models: string[]
  error: string | null
}

function serverLine({ provider, base_url: address, has_key: hasKey, models, error }: Row): string {
  const head = `${provider} at ${address} ${hasKey ? 'with a key' : 'without a key'}`
  if (error) return `${head}: ${error}`
  // Names given by others must not carry terminal control sequences.
  const names = models
    .slice(0, maxListed)
    .join(', ')
    .replaceAll(/\p{Cc}/gu, ' ')
  const more = models.length > maxListed ? ` and ${models.length - maxListed} more` : ''
  return `${head}: ${names || 'no models'}${more}`
}
