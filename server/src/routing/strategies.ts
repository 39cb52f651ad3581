import type { ContinuedConversation } from './conversation'
import type { Collection, Strategy } from '../catalog/collection'

/** The known state of a usable member. */
export interface MemberChoice {
  /** Of its model. */
  id: string
  /** Lower comes first. */
  priority: number
  weight: number
  /** Nano-dollars for a million tokens of input and as many of output together, search units included; only for `lowest_cost`. */
  price: bigint
  hasTools: boolean
  /** Requests that it runs now. */
  inFlight: number
  /** Requests that it got in the last minute. */
  lastMinute: number
  /** Milliseconds, the mean of its last successes; undefined where there are none. */
  meanLatencyMs: number | undefined
  /** It was rate-limited or failed a moment ago. */
  isCoolingDown: boolean
}

/** The sources of an order beside the members. */
export interface Chance {
  /** From 0, below 1. */
  random: () => number
  /** The number of this request among those of its collection, from 0. */
  nextIndex: number
  /** The conversation that the request continues. */
  conversation?: Pick<ContinuedConversation, 'order'> | undefined
}

type StrategyField = Pick<Collection, 'strategy' | 'scope'>

/**
 * Orders members as they are tried. Members that are cooling down are left out, unless that would be all of them.
 * Members of equal rank keep their order. Source: contract 10.4.
 */
export function orderMembers<Known extends MemberChoice>(
  { strategy, scope }: StrategyField,
  members: readonly Known[],
  chance: Chance,
): Known[] {
  const rested = members.filter(({ isCoolingDown }) => !isCoolingDown)
  const usableMembers = (rested.length > 0 ? rested : members).toSorted(
    (a, b) => a.priority - b.priority,
  )
  const orderedMembers = orderBy(strategy, usableMembers, chance)
  const prefersTools = strategy === 'random' && scope === 'system'
  if (!prefersTools) return orderedMembers
  return orderedMembers.toSorted((a, b) => Number(b.hasTools) - Number(a.hasTools))
}

type Order = <Known extends MemberChoice>(members: Known[], chance: Chance) => Known[]

const orders: Record<Strategy, Order> = {
  priority: (members) => members,
  round_robin(members, { nextIndex }) {
    const first = members.length > 0 ? nextIndex % members.length : 0
    return [...members.slice(first), ...members.slice(0, first)]
  },
  least_used: (members) =>
    members.toSorted((a, b) => a.inFlight - b.inFlight || a.lastMinute - b.lastMinute),
  random: (members, { random }) => shuffleByWeight(members, random, () => 1),
  weighted: (members, { random }) => shuffleByWeight(members, random, ({ weight }) => weight),
  lowest_cost: (members) => members.toSorted((a, b) => compare(a.price, b.price)),
  lowest_latency: (members) =>
    members.toSorted((a, b) => (a.meanLatencyMs ?? -1) - (b.meanLatencyMs ?? -1)),
}

/**
 * The weights of members where none ranks above another: there a conversation that continues has its own order of
 * them. `lowest_latency` is none of these, as its members are unequal by their results.
 */
const equals: Partial<Record<Strategy, (member: MemberChoice) => number>> = {
  round_robin: () => 1,
  least_used: () => 1,
  random: () => 1,
  weighted: ({ weight }) => weight,
}

function orderBy<Known extends MemberChoice>(
  strategy: Strategy,
  members: Known[],
  chance: Chance,
): Known[] {
  const weightOf = equals[strategy]
  return weightOf && chance.conversation
    ? chance.conversation.order(members, ({ id }) => id, weightOf)
    : orders[strategy](members, chance)
}

const compare = (a: bigint, b: bigint) => (a < b ? -1 : Number(a > b))

/** Shuffles all of them, one drawn after the other: each time by weight among those that are left. */
function shuffleByWeight<Known extends MemberChoice>(
  members: readonly Known[],
  random: () => number,
  weightOf: (member: Known) => number,
): Known[] {
  const remaining = [...members]
  const order: Known[] = []
  let total = remaining.reduce((sum, member) => sum + weightOf(member), 0)
  while (remaining.length > 0) {
    let mark = random() * total
    const at = remaining.findIndex((member) => (mark -= weightOf(member)) < 0)
    const [next] = remaining.splice(at < 0 ? remaining.length - 1 : at, 1)
    if (!next) break
    total -= weightOf(next)
    order.push(next)
  }
  return order
}
