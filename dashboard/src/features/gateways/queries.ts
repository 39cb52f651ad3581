import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'
import type { Connection } from '../connections/queries'

const pageSize = 100
/** The maximum number of pages read: no account comes near it. */
const maxPages = 10

interface ListPage<Item> {
  items: readonly Item[]
  hasMore: boolean
}

/** Reads a whole list, page by page. */
async function readAllPages<Item>(
  pageAt: (query: Record<string, number>) => Promise<ListPage<Item>>,
) {
  const all: Item[] = []
  for (let page = 0; page < maxPages; page += 1) {
    const query = { limit: pageSize, offset: page * pageSize }
    const { items, hasMore } = await pageAt(query)
    all.push(...items)
    if (!hasMore) break
  }
  return all
}

async function gatewaysAt(query: Record<string, number>) {
  const { gateways, pagination } = await bodyOf(api.GET('/api/gateways', { params: { query } }))
  return { items: gateways, hasMore: pagination.has_more }
}

/** Self-hosted gateways visible to the account: its own and those of its organizations. */
export const gatewaysQuery = queryOptions({
  queryKey: ['gateways'],
  queryFn: () => readAllPages(gatewaysAt),
})

export type Gateway = Schemas['Gateway']

/** The connections of a gateway. */
export const gatewayConnectionsQuery = (id: string) =>
  queryOptions({
    queryKey: ['connections', 'of-gateway', id],
    queryFn: async () => {
      const all = await readAllPages<Connection>(async (page) => {
        const query = { ...page, gateway_type: 3 as const }
        const { connections, pagination } = await bodyOf(
          api.GET('/api/connections', { params: { query } }),
        )
        return { items: connections, hasMore: pagination.has_more }
      })
      return all.filter(({ gateway_id: gateway }) => gateway === id)
    },
  })

/** The color and the explanation of each state. Source: docs/concepts/gateways.md. */
export const gatewayStates = {
  online: { color: 'green', meaning: 'Ready for requests.' },
  starting: { color: 'blue', meaning: 'Connected, but its models are not announced yet.' },
  offline: { color: 'gray', meaning: 'Not connected.' },
  error: { color: 'red', meaning: 'Connected with an incompatible protocol.' },
} as const satisfies Record<Gateway['status'], { color: string; meaning: string }>

/** Explains the state of a gateway. */
export const meaningOf = ({ status, last_heartbeat_at: lastHeartbeatAt }: Gateway): string =>
  lastHeartbeatAt === null ? 'Never connected.' : gatewayStates[status].meaning

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

/** The command that starts the gateway client beside the models. Source: docs/concepts/self-hosted.md. */
export const connectCommand = (address: string): string =>
  `tollgate connect --url ${address}${isInTheClear(address) ? ' --insecure' : ''}`
