import { queryOptions } from '@tanstack/react-query'
import { api } from './api'

export const poolsEndpoint = api['connection-pools']

/** Pools visible to the account. */
export const poolsQuery = queryOptions({
  queryKey: ['pools'],
  queryFn: async () => (await (await poolsEndpoint.$get({ query: { limit: '100' } })).json()).pools,
})

export type Pool = Awaited<ReturnType<NonNullable<typeof poolsQuery.queryFn>>>[number]
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

export const mostMembers = 50
