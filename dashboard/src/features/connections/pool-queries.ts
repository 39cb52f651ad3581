import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'

/** Pools visible to the account. */
export const poolsQuery = queryOptions({
  queryKey: ['pools'],
  queryFn: async () =>
    (await bodyOf(api.GET('/api/connection-pools', { params: { query: { limit: 100 } } }))).pools,
})

export type Pool = Schemas['ConnectionPool']
export type PoolStrategy = Pool['strategy']

/** Routing strategies of pools: name and description. */
export const poolStrategies = {
  round_robin: [
    'Round robin',
    'Each connection in turn, so that all receive the same number of requests.',
  ],
  priority: ['Priority', 'The first available connection; the others are fallbacks.'],
  least_used: ['Least used', 'The connection with the fewest running requests.'],
  random: ['Random', 'A random connection; all are equally likely.'],
} as const satisfies Record<PoolStrategy, readonly string[]>

const isStrategy = (name: string | null): name is PoolStrategy =>
  name !== null && name in poolStrategies

/** Narrows the value of a select to a strategy. */
export const poolStrategyOf = (name: string | null): PoolStrategy =>
  isStrategy(name) ? name : 'round_robin'

export const maxMembers = 50
