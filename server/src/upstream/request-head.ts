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
 * replace the defaults of an adapter and of the registry, never a header that an operator has set for the provider, or
 * that the connection has of its own.
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
      ...(headers && withoutConfigured(headers, candidate)),
      ...headersOf(candidate, url),
      ...(forwarded && withoutConfigured(forwarded, candidate)),
      ...hopHeader(hops),
    }
  }
  return (sharedHeadOf(candidate).headers[hops] ??= {
    ...acceptAll,
    ...headersOf(candidate, url),
    ...hopHeader(hops),
  })
}

/**
 * Returns headers without those that an operator has set for the provider, or that the connection has of its own, in
 * whatever case.
 */
function withoutConfigured(list: HeaderList, { provider, connection }: ProviderRoute): HeaderList {
  const { headers } = provider.options
  const rest = isRegistered(headers) ? list : withoutNames(list, headers)
  return connection.headers ? withoutNames(rest, connection.headers) : rest
}

/** Returns headers without those that another list has, in whatever case. */
function withoutNames(list: HeaderList, other: HeaderList): HeaderList {
  const names = new Set(Object.keys(other).map((name) => name.toLowerCase()))
  const rest = Object.entries(list).filter(([name]) => !names.has(name.toLowerCase()))
  return Object.fromEntries(rest)
}

/** Some servers reject a request without it. */
const acceptAll = { accept: '*/*' }

const hopHeader = (hops: number) => ({ [hopsHeader]: String(hops + 1) })

const usualHeaders = {
  'content-type': 'application/json',
  // Compression would be undone here, and costs more than loopback or a data centre's network.
  'accept-encoding': 'identity',
  'user-agent': 'tollgate',
} as const

/** The headers of every request on a connection: its own before those of the provider, and its credential before both. */
export function headersOf(route: ProviderRoute, url: string): Record<string, string> {
  const { provider, connection } = route
  const headers = { ...usualHeaders, ...provider.options.headers }
  const secretHeader = toSecretHeader(route, url)
  if (!connection.headers) return { ...headers, ...secretHeader }
  return {
    ...withoutNames(headers, connection.headers),
    ...withoutNames(connection.headers, secretHeader),
    ...secretHeader,
  }
}
