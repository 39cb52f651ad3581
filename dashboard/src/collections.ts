import { queryOptions } from '@tanstack/react-query'
import { api } from './api'

export const collectionsQuery = queryOptions({
  queryKey: ['collections'],
  queryFn: async () => (await (await api.user['model-collections'].$get()).json()).collections,
})

export type Collection = Awaited<ReturnType<NonNullable<typeof collectionsQuery.queryFn>>>[number]
export type Strategy = Collection['routing_strategy']
export type Member = Omit<Collection['members'][number], 'added_at'>

const mayRun = new Set(['owner', 'admin'])

/** Organizations whose collections the reader may change. */
export const ownOrganizationsQuery = queryOptions({
  queryKey: ['organizations', 'run'],
  queryFn: async () => {
    const { organizations } = await (await api.organizations.$get()).json()
    return organizations.filter(({ role, status }) => mayRun.has(role) && status === 'active')
  },
})

/** How the members are put in order: by name, and what it means. The rest are asked when one fails. */
export const strategies = {
  priority: ['In order', 'The first that can answer; the next ones only where it fails.'],
  round_robin: ['In turns', 'One after the other, so that each gets as many calls.'],
  least_used: ['Least used', 'The one with the fewest calls running, then in the last minute.'],
  random: ['At random', 'Any of them, each as likely as the next.'],
  weighted: ['By weight', 'At random; a weight of 2 is drawn twice as often as a weight of 1.'],
  lowest_cost: ['Lowest price', 'The one whose input and output price are lowest together.'],
  lowest_latency: ['Quickest', 'The one that answered quickest in its last 100 calls.'],
} as const satisfies Record<Strategy, readonly string[]>

const isStrategy = (name: string | null): name is Strategy => name !== null && name in strategies

/** A choice of a strategy, as a list of choices tells it. */
export const strategyOf = (name: string | null): Strategy => (isStrategy(name) ? name : 'priority')

const lastPlace = 1000

const inPlace = (members: readonly Member[]): Member[] =>
  members.map((member, at) => ({ ...member, priority: at + 1 }))

/** Puts the member at `from` to the place `to`, and gives all of them the priorities of their places. */
export function moved(members: readonly Member[], from: number, to: number): Member[] {
  const [taken] = members.slice(from, from + 1)
  return taken ? inPlace(members.toSpliced(from, 1).toSpliced(to, 0, taken)) : [...members]
}

/** Adds a model behind the last. */
export function added(members: readonly Member[], modelId: string): Member[] {
  const last = members.at(-1)?.priority ?? 0
  const member = { model_id: modelId, priority: last + 1, weight: 1, enabled: true }
  return last < lastPlace ? [...members, member] : inPlace([...members, member])
}
