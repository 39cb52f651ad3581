import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'

export const collectionsQuery = queryOptions({
  queryKey: ['collections'],
  queryFn: async () => (await bodyOf(api.GET('/api/user/model-collections'))).collections,
})

export type Collection = Schemas['ModelCollection']
export type Strategy = Collection['routing_strategy']
export type Member = Omit<Collection['members'][number], 'added_at'>

const mayRun = new Set(['owner', 'admin'])

/** Organizations whose collections the user may change. */
export const ownOrganizationsQuery = queryOptions({
  queryKey: ['organizations', 'run'],
  queryFn: async () => {
    const { organizations } = await bodyOf(api.GET('/api/organizations'))
    return organizations.filter(({ role, status }) => mayRun.has(role) && status === 'active')
  },
})

/** Routing strategies: name and description. When the first model fails, the others are tried. */
export const strategies = {
  priority: ['Priority', 'The first available model; the others are fallbacks.'],
  round_robin: [
    'Round robin',
    'Each model in turn, so that all receive the same number of requests.',
  ],
  least_used: [
    'Least used',
    'The model with the fewest running requests, then the fewest in the last minute.',
  ],
  random: ['Random', 'A random model; all are equally likely.'],
  weighted: [
    'Weighted',
    'A random model in proportion to its weight: 2 is chosen twice as often as 1.',
  ],
  lowest_cost: ['Lowest cost', 'The model with the lowest sum of input and output price.'],
  lowest_latency: [
    'Lowest latency',
    'The model that responded fastest over its last 100 requests.',
  ],
} as const satisfies Record<Strategy, readonly string[]>

const isStrategy = (name: string | null): name is Strategy => name !== null && name in strategies

/** Narrows the value of a select to a strategy. */
export const strategyOf = (name: string | null): Strategy => (isStrategy(name) ? name : 'priority')

const lastPosition = 1000

const atPosition = (members: readonly Member[]): Member[] =>
  members.map((member, at) => ({ ...member, priority: at + 1 }))

/** Moves the member at `from` to position `to` and renumbers all priorities. */
export function moved(members: readonly Member[], from: number, to: number): Member[] {
  const [moved] = members.slice(from, from + 1)
  return moved ? atPosition(members.toSpliced(from, 1).toSpliced(to, 0, moved)) : [...members]
}

/** Appends a model. */
export function added(members: readonly Member[], modelId: string): Member[] {
  const last = members.at(-1)?.priority ?? 0
  const member = { model_id: modelId, priority: last + 1, weight: 1, enabled: true }
  return last < lastPosition ? [...members, member] : atPosition([...members, member])
}

/** Returns the fields of a member that can be changed. */
export const toMember = ({ model_id, priority, weight, enabled }: Member): Member => ({
  model_id,
  priority,
  weight,
  enabled,
})
