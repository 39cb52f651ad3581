import { queryOptions } from '@tanstack/react-query'
import { api } from './api'
import type { Connection } from './connections'

const pageSize = 100
/** The maximum number of pages read: no account comes near it. */
const mostPages = 10

interface Part<Item> {
  items: readonly Item[]
  hasMore: boolean
}

/** Reads a whole list, page by page. */
async function whole<Item>(pageAt: (query: Record<string, string>) => Promise<Part<Item>>) {
  const found: Item[] = []
  for (let page = 0; page < mostPages; page += 1) {
    const query = { limit: String(pageSize), offset: String(page * pageSize) }
    const { items, hasMore } = await pageAt(query)
    found.push(...items)
    if (!hasMore) break
  }
  return found
}

async function gatewaysAt(query: Record<string, string>) {
  const { gateways, pagination } = await (await api.gateways.$get({ query })).json()
  return { items: gateways, hasMore: pagination.has_more }
}

/** Self-hosted gateways visible to the account: its own and those of its organizations. */
export const gatewaysQuery = queryOptions({
  queryKey: ['gateways'],
  queryFn: () => whole(gatewaysAt),
})

export type Gateway = Awaited<ReturnType<typeof gatewaysAt>>['items'][number]

/** The connections of a gateway. */
export const gatewayConnectionsQuery = (id: string) =>
  queryOptions({
    queryKey: ['connections', 'of-gateway', id],
    queryFn: async () => {
      const all = await whole<Connection>(async (page) => {
        const query = { ...page, gateway_type: '3' }
        const { connections, pagination } = await (await api.connections.$get({ query })).json()
        return { items: connections, hasMore: pagination.has_more }
      })
      return all.filter(({ gateway_id: gateway }) => gateway === id)
    },
  })

/** The colour and the explanation of each state. Source: docs/gateways.md. */
export const gatewayStates = {
  online: { color: 'green', meaning: 'Ready for requests.' },
  starting: { color: 'blue', meaning: 'Connected, but its models are not announced yet.' },
  offline: { color: 'gray', meaning: 'Not connected.' },
  error: { color: 'red', meaning: 'Connected with an incompatible protocol.' },
} as const satisfies Record<Gateway['status'], { color: string; meaning: string }>

/** Explains the state of a gateway. */
export const meaningOf = ({ status, last_heartbeat_at: heard }: Gateway): string =>
  heard === null ? 'Never connected.' : gatewayStates[status].meaning

const order = ['online', 'starting', 'error', 'offline'] as const

/** Sorts usable gateways first, then by name. */
export const byUse = (gateways: readonly Gateway[]): Gateway[] =>
  gateways.toSorted(
    (one, other) =>
      order.indexOf(one.status) - order.indexOf(other.status) || one.name.localeCompare(other.name),
  )

/** Derives the service's address from that of the gateway socket. */
export const serviceOf = (connectUrl: string): string =>
  connectUrl.replace(/^ws/, 'http').replace(/\/gateway$/, '')

const isLocal = (address: string) =>
  /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(new URL(address).hostname)

/** Whether the token would be sent unencrypted, which the client does only with `--insecure`. */
export const isInTheClear = (address: string): boolean =>
  address.startsWith('http:') && !isLocal(address)

/** The command that starts the gateway client beside the models. Source: docs/self-hosted.md. */
export const connectCommand = (address: string): string =>
  `tollgate connect --url ${address}${isInTheClear(address) ? ' --insecure' : ''}`
