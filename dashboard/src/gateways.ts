import { queryOptions } from '@tanstack/react-query'
import { api } from './api'
import type { Connection } from './connections'

const pageSize = 100
/** What is beyond so many pages is not shown: no account comes near it. */
const mostPages = 10

interface Part<Item> {
  items: readonly Item[]
  hasMore: boolean
}

/** All of a list, page after page. */
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

/** Self-hosted gateways that the account may see: its own, and those of its organizations. */
export const gatewaysQuery = queryOptions({
  queryKey: ['gateways'],
  queryFn: () => whole(gatewaysAt),
})

export type Gateway = Awaited<ReturnType<typeof gatewaysAt>>['items'][number]

/** The connections by which a gateway is called. */
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

/** What a state is shown in, and what it means. Source: docs/gateways.md. */
export const gatewayStates = {
  online: { color: 'green', meaning: 'It takes requests.' },
  starting: { color: 'blue', meaning: 'It has not said yet what it serves.' },
  offline: { color: 'gray', meaning: 'Its program is not connected.' },
  error: { color: 'red', meaning: 'Its program said what is not understood.' },
} as const satisfies Record<Gateway['status'], { color: string; meaning: string }>

/** What the state of a gateway means. */
export const meaningOf = ({ status, last_heartbeat_at: heard }: Gateway): string =>
  heard === null ? 'Its program has not connected yet.' : gatewayStates[status].meaning

const order = ['online', 'starting', 'error', 'offline'] as const

/** Those that can be used now first, then by their names. */
export const byUse = (gateways: readonly Gateway[]): Gateway[] =>
  gateways.toSorted(
    (one, other) =>
      order.indexOf(one.status) - order.indexOf(other.status) || one.name.localeCompare(other.name),
  )

/** The address of the service, by that of its gateways' socket. */
export const serviceOf = (connectUrl: string): string =>
  connectUrl.replace(/^ws/, 'http').replace(/\/gateway$/, '')

const isLocal = (address: string) =>
  /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(new URL(address).hostname)

/** Whether the token would go to the service in the clear, which its program does only where it is told to. */
export const isInTheClear = (address: string): boolean =>
  address.startsWith('http:') && !isLocal(address)

/** What starts the program beside the models. Source: docs/self-hosted.md. */
export const connectCommand = (address: string): string =>
  `tollgate connect --url ${address}${isInTheClear(address) ? ' --insecure' : ''}`
