import { toSecretHeader } from '../providers/credentials'
import { addressOf, type ProviderRoute } from '../providers/provider-route'
import type { Provider } from '../providers/provider'
import { hopsHeader } from '../wire/forwarding-loop'

/** The operations of the OpenAI format, and their paths there. */
export const paths = {
  chat: '/chat/completions',
  completions: '/completions',
  embeddings: '/embeddings',
  responses: '/responses',
} as const
export type Operation = keyof typeof paths

type HeaderList = Readonly<Record<string, string>>

/** The candidate of a request, and the properties that decide its URL and its headers. */
interface Sending {
  turn: { candidate: ProviderRoute; checked: { call: { hops: number } } }
  sent: {
    operation: Operation
    path?: string
    url?: string | undefined
    headers?: HeaderList
    forwarded?: HeaderList
  }
}

/** The common part of the requests on one connection: made once, and released with it. */
interface Alike {
  provider: Provider
  urls: Partial<Record<Operation, string>>
  /** By the number of forwarding hops before us, at most one. */
  headers: HeaderList[]
}

const alike = new WeakMap<ProviderRoute['connection'], Alike>()

function alikeOn({ provider, connection }: ProviderRoute): Alike {
  const known = alike.get(connection)
  if (known?.provider === provider) return known
  const made: Alike = { provider, urls: {}, headers: [] }
  alike.set(connection, made)
  return made
}

/** Returns the URL of a request. */
export function toUpstreamUrl({
  turn: { candidate },
  sent: { operation, path, url },
}: Sending): string {
  if (url !== undefined) return url
  const own = candidate.provider.options.paths[operation]
  if (own === undefined && path !== undefined) return `${addressOf(candidate)}${path}`
  const { urls } = alikeOn(candidate)
  return (urls[operation] ??= `${addressOf(candidate)}${own ?? paths[operation]}`)
}

/** None of the caller's headers goes to a provider, except those of a body that is passed through. */
export function toSentHeaders({ turn, sent }: Sending, url: string): HeaderList {
  const { candidate, checked } = turn
  const { hops } = checked.call
  const { headers, forwarded } = sent
  // Azure's credential has a name that depends on the address.
  if (headers || forwarded || candidate.provider.dialect === 'azure') {
    return { ...anything, ...headers, ...headersOf(candidate, url), ...forwarded, ...told(hops) }
  }
  return (alikeOn(candidate).headers[hops] ??= {
    ...anything,
    ...headersOf(candidate, url),
    ...told(hops),
  })
}

/** Some servers reject a request without it. */
const anything = { accept: '*/*' }

const told = (hops: number) => ({ [hopsHeader]: String(hops + 1) })

/** The headers of every request on a connection, its credential among them. */
export const headersOf = (line: ProviderRoute, url: string): Record<string, string> => ({
  'content-type': 'application/json',
  // Compression would be undone here, and costs more than loopback or a data centre's network.
  'accept-encoding': 'identity',
  'user-agent': 'tollgate',
  ...line.provider.options.headers,
  ...toSecretHeader(line, url),
})
