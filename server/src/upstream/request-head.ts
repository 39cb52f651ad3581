import { toSecretHeader } from '../providers/credentials'
import { addressOf, type ProviderRoute } from '../providers/provider-route'
import type { Provider } from '../providers/provider'
import { isRegistered } from '../providers/registry'
import { hopsHeader } from '../wire/forwarding-loop'
import type { HeaderList } from './http/request-head'
import type { Operation } from './protocol/protocol'

/** The paths of the operations in the OpenAI format. */
export const paths = {
  chat: '/chat/completions',
  completions: '/completions',
  embeddings: '/embeddings',
  moderations: '/moderations',
  rerank: '/rerank',
  images: '/images/generations',
  speech: '/audio/speech',
  transcriptions: '/audio/transcriptions',
  translations: '/audio/translations',
  responses: '/responses',
} as const satisfies Record<Operation, string>

/** The parts of a request that decide its URL and its headers. */
interface HeadFields {
  operation: Operation
  path?: string | undefined
  url?: string | undefined
  headers?: HeaderList | undefined
  forwarded?: HeaderList | undefined
}

/** The common part of the requests on one connection: made once, and released with it. */
interface SharedHead {
  provider: Provider
  urls: Partial<Record<Operation, string>>
  /** By the number of forwarding hops before us, at most one. */
  headers: HeaderList[]
}

const sharedHeads = new WeakMap<ProviderRoute['connection'], SharedHead>()

function sharedHeadOf({ provider, connection }: ProviderRoute): SharedHead {
  const knownHead = sharedHeads.get(connection)
  if (knownHead?.provider === provider) return knownHead
  const head: SharedHead = { provider, urls: {}, headers: [] }
  sharedHeads.set(connection, head)
  return head
}

/** Returns the URL of a request. */
export function toUpstreamUrl(
  candidate: ProviderRoute,
  { operation, path, url }: HeadFields,
): string {
  if (url !== undefined) return url
  const own = candidate.provider.options.paths[operation]
  if (own === undefined && path !== undefined) return `${addressOf(candidate)}${path}`
  const { urls } = sharedHeadOf(candidate)
  return (urls[operation] ??= `${addressOf(candidate)}${own ?? paths[operation]}`)
}

/**
 * None of the caller's headers goes to a provider, except those of a body that is passed through (`forwarded`). They
 * replace the defaults of an adapter and of the registry, never a header that an operator has set for the provider.
 */
export function toSentHeaders(
  candidate: ProviderRoute,
  { headers, forwarded }: HeadFields,
  { url, hops }: { url: string; hops: number },
): HeaderList {
  // Azure's credential has a name that depends on the address.
  if (headers || forwarded || candidate.provider.dialect === 'azure') {
    return {
      ...acceptAll,
      ...(headers && withoutOperators(headers, candidate)),
      ...headersOf(candidate, url),
      ...(forwarded && withoutOperators(forwarded, candidate)),
      ...hopHeader(hops),
    }
  }
  return (sharedHeadOf(candidate).headers[hops] ??= {
    ...acceptAll,
    ...headersOf(candidate, url),
    ...hopHeader(hops),
  })
}

/** Returns headers without those that an operator has set for the provider, in whatever case. */
function withoutOperators(list: HeaderList, { provider }: ProviderRoute): HeaderList {
  const { headers } = provider.options
  if (isRegistered(headers)) return list
  const own = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  const rest = Object.entries(list).filter(([name]) => !own.has(name.toLowerCase()))
  return Object.fromEntries(rest)
}

/** Some servers reject a request without it. */
const acceptAll = { accept: '*/*' }

const hopHeader = (hops: number) => ({ [hopsHeader]: String(hops + 1) })

/** The headers of every request on a connection, its credential among them. */
export const headersOf = (route: ProviderRoute, url: string): Record<string, string> => ({
  'content-type': 'application/json',
  // Compression would be undone here, and costs more than loopback or a data centre's network.
  'accept-encoding': 'identity',
  'user-agent': 'tollgate',
  ...route.provider.options.headers,
  ...toSecretHeader(route, url),
})
