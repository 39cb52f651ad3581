import type { ContinuedConversation } from './conversation'
import type { Collection, Strategy } from '../catalog/collection'

/** What is known of a member that may be asked. */
export interface MemberState {
  /** Of its model. */
  id: string
  /** Lower comes first. */
  priority: number
  weight: number
  /** Nano-dollars a million tokens, what is read and what is written together; only for `lowest_cost`. */
  price: bigint
  hasTools: boolean
  /** Requests that it runs now. */
  inFlight: number
  /** Requests that it was asked in the last minute. */
  lastMinute: number
  /** Milliseconds, the mean of its last successes; undefined where there are none. */
  meanLatencyMs: number | undefined
  /** It was rate-limited or failed a moment ago. */
  isCoolingDown: boolean
}

/** Where an order comes from that is not in the members. */
export interface Chance {
  /** From 0, below 1. */
  random: () => number
  /** The number of this request among those of its collection, from 0. */
  turn: number
  /** The conversation that the request goes on with. */
  conversation?: Pick<ContinuedConversation, 'order'> | undefined
}

type Of = Pick<Collection, 'strategy' | 'scope'>

/**
 * Members in the order in which they are tried. Who is cooling down is left out, unless that would be all
 * of them. Members of equal rank keep their order. Source: contract 10.4.
 */
export function inTurn<Known extends MemberState>(
  { strategy, scope }: Of,
  members: readonly Known[],
  chance: Chance,
): Known[] {
  const rested = members.filter(({ isCoolingDown }) => !isCoolingDown)
  const usable = (rested.length > 0 ? rested : members).toSorted((a, b) => a.priority - b.priority)
  const ordered = orderBy(strategy, usable, chance)
  const prefersTools = strategy === 'random' && scope === 'system'
  if (!prefersTools) return ordered
  return ordered.toSorted((a, b) => Number(b.hasTools) - Number(a.hasTools))
}

type Order = <Known extends MemberState>(members: Known[], chance: Chance) => Known[]

const orders: Record<Strategy, Order> = {
  priority: (members) => members,
  round_robin(members, { turn }) {
    const first = members.length > 0 ? turn % members.length : 0
    return [...members.slice(first), ...members.slice(0, first)]
  },
  least_used: (members) =>
    members.toSorted((a, b) => a.inFlight - b.inFlight || a.lastMinute - b.lastMinute),
  random: (members, { random }) => drawn(members, random, () => 1),
  weighted: (members, { random }) => drawn(members, random, ({ weight }) => weight),
  lowest_cost: (members) => members.toSorted((a, b) => compare(a.price, b.price)),
  lowest_latency: (members) =>
    members.toSorted((a, b) => (a.meanLatencyMs ?? -1) - (b.meanLatencyMs ?? -1)),
}

/**
 * The weights of members where none ranks above another: there a conversation that goes on has its own order
 * of them. `lowest_latency` is none of these, as its members are unequal by what they did.
 */
const equals: Partial<Record<Strategy, (member: MemberState) => number>> = {
  round_robin: () => 1,
  least_used: () => 1,
  random: () => 1,
  weighted: ({ weight }) => weight,
}

function orderBy<Known extends MemberState>(
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

/** All of them, one drawn after the other: each time by weight among those that are left. */
function drawn<Known extends MemberState>(
  members: readonly Known[],
  random: () => number,
  weightOf: (member: Known) => number,
): Known[] {
  const left = [...members]
  const order: Known[] = []
  let total = left.reduce((sum, member) => sum + weightOf(member), 0)
  while (left.length > 0) {
    let mark = random() * total
    const at = left.findIndex((member) => (mark -= weightOf(member)) < 0)
    const [next] = left.splice(at < 0 ? left.length - 1 : at, 1)
    if (!next) break
    total -= weightOf(next)
    order.push(next)
  }
  return order
}
