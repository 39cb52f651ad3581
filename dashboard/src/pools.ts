import { queryOptions } from '@tanstack/react-query'
import { api } from './api'

export const poolsEndpoint = api['connection-pools']

/** Pools that the account may see. */
export const poolsQuery = queryOptions({
  queryKey: ['pools'],
  queryFn: async () => (await (await poolsEndpoint.$get({ query: { limit: '100' } })).json()).pools,
})

export type Pool = Awaited<ReturnType<NonNullable<typeof poolsQuery.queryFn>>>[number]
export type PoolStrategy = Pool['strategy']

/** Which member is asked first: by name, and what it means. */
export const poolStrategies = {
  round_robin: ['In turns', 'One after the other, so that each gets as many calls.'],
  priority: ['In order', 'The first that can serve; the next ones only where it fails.'],
  least_used: ['Least used', 'The one with the fewest calls running.'],
  random: ['At random', 'Any of them, each as likely as the next.'],
} as const satisfies Record<PoolStrategy, readonly string[]>

const isStrategy = (name: string | null): name is PoolStrategy =>
  name !== null && name in poolStrategies

/** A choice of a strategy, as a list of choices tells it. */
export const poolStrategyOf = (name: string | null): PoolStrategy =>
  isStrategy(name) ? name : 'round_robin'

export const mostMembers = 50
