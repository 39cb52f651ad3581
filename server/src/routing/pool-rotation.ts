import { LRUCache } from 'lru-cache'
import type { ContinuedConversation } from './conversation'
import type { OwnedConnection, ProviderOffer } from '../catalog/offer'
import { limitEntries } from '../platform/cache-limit'

/** The pools used longest ago are evicted, and begin anew. */
const maxPools = 10_000

/**
 * The order in which the connections of pools are tried. Each process takes turns, and counts running requests, for
 * itself.
 */
export class PoolRotation {
  readonly #next = new LRUCache<string, number>(limitEntries(maxPools))
  readonly #running = new Map<string, number>()
  readonly #random: () => number

  constructor(random: () => number = Math.random) {
    this.#random = random
  }

  /** A request goes to a connection of a pool. Returns a function to call when it has ended, once. */
  begin(connectionId: string): () => void {
    this.#running.set(connectionId, this.runningOn(connectionId) + 1)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const remaining = this.runningOn(connectionId) - 1
      if (remaining > 0) this.#running.set(connectionId, remaining)
      else this.#running.delete(connectionId)
    }
  }

  runningOn(connectionId: string): number {
    return this.#running.get(connectionId) ?? 0
  }

  /**
   * The connections of a place, in the order in which this request tries them. Where its conversation continues,
   * first the one that served it, then those that every process tries for its other requests; unless their owner has
   * put them in order.
   */
  orderOf(
    { pool, connections }: ProviderOffer,
    conversation?: ContinuedConversation,
  ): readonly OwnedConnection[] {
    if (!pool || connections.length === 1) return connections
    if (pool.strategy === 'priority') return connections
    if (conversation?.isContinued) return orderFor(conversation, connections)
    if (pool.strategy === 'random') return this.#shuffled(connections)
    const rotatedConnections = this.#rotateConnections(pool.id, connections)
    if (pool.strategy === 'round_robin') return rotatedConnections
    // Connections with equally many running requests take turns.
    return rotatedConnections.toSorted(
      (one, other) => this.runningOn(one.id) - this.runningOn(other.id),
    )
  }

  #rotateConnections(poolId: string, connections: readonly OwnedConnection[]): OwnedConnection[] {
    const first = (this.#next.get(poolId) ?? 0) % connections.length
    this.#next.set(poolId, first + 1)
    return [...connections.slice(first), ...connections.slice(0, first)]
  }

  #shuffled(connections: readonly OwnedConnection[]): OwnedConnection[] {
    return connections
      .map((connection) => ({ connection, at: this.#random() }))
      .toSorted((one, other) => one.at - other.at)
      .map(({ connection }) => connection)
  }
}

/** By health, then by the conversation's last connection, then by the conversation's identity. */
function orderFor(
  conversation: ContinuedConversation,
  connections: readonly OwnedConnection[],
): readonly OwnedConnection[] {
  const { connectionId } = conversation.preferredRoute ?? {}
  const rankOf = ({ id, isFailing }: OwnedConnection) =>
    (isFailing ? 2 : 0) + (id === connectionId ? 0 : 1)
  return conversation
    .order(connections, ({ id }) => id)
    .toSorted((one, other) => rankOf(one) - rankOf(other))
}
