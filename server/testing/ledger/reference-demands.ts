import { toReclaimTime, type ReferenceTake } from './reference-take'

/** The demand of a node that is short of an account's credit. */
export interface ReferenceDemand {
  amount: bigint
  /** Milliseconds. */
  since: number
  /** The time of its last reclaim; see `toReclaimTime`. */
  recalledAt: bigint
  untilMs: number
}

const usualMs = 2000

/** The table `credit_demand` as a plain object: by account, the nodes that wait for credit. */
export class ReferenceDemands {
  readonly #lines = new Map<string, Map<string, ReferenceDemand>>()

  /** Returns the node's own demand, the sum of those before it, and those of all other nodes. */
  line(accountId: string, nodeId: string, nowMs: number) {
    const waiting = [...(this.#lines.get(accountId) ?? [])].filter(
      ([, { untilMs }]) => untilMs > nowMs,
    )
    const own = waiting.find(([id]) => id === nodeId)?.[1]
    const others = waiting.filter(([id]) => id !== nodeId).map(([, demand]) => demand)
    const older = others
      .filter(({ since }) => since < (own?.since ?? Infinity))
      .reduce((sum, { amount }) => sum + amount, 0n)
    return { own, older, others }
  }

  /** Returns the time of the last reclaim of an account by those in line; 0 where there is none. */
  lastReclaim(accountId: string): bigint {
    const all = [...(this.#lines.get(accountId)?.values() ?? [])]
    return all.reduce((last, { recalledAt }) => (recalledAt > last ? recalledAt : last), 0n)
  }

  /** Empties the table, as a crash of the database does. */
  clear(): void {
    this.#lines.clear()
  }

  /** Records the node's demand after a call that left `lacking`. */
  put(
    { accountId, nodeId, isReclaiming, nowMs, demandMs = usualMs }: ReferenceTake,
    outcome: {
      lacking: bigint
      own: ReferenceDemand | undefined
      moment: number
      askedMs: number
    },
  ): ReferenceDemand | undefined {
    const { lacking, own, moment, askedMs } = outcome
    const line = this.#lines.get(accountId) ?? new Map<string, ReferenceDemand>()
    this.#lines.set(accountId, line)
    if (lacking <= 0n) {
      if (own) line.delete(nodeId)
      return own
    }
    if (!isReclaiming && !own) return undefined
    const recalledAt = isReclaiming ? toReclaimTime(askedMs) : (own?.recalledAt ?? 0n)
    const since = own?.since ?? moment
    const demand = { amount: lacking, since, recalledAt, untilMs: nowMs + demandMs }
    line.set(nodeId, demand)
    return demand
  }
}
