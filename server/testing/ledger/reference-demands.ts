import type { ReferenceTake } from './reference-claim'

/** The demand of a node that is short of an account's credit. */
export interface ReferenceDemand {
  amount: bigint
  /** Moments are milliseconds. */
  since: number
  recalledAt: number
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
    const recalledAt = isReclaiming ? askedMs : (own?.recalledAt ?? 0)
    const since = own?.since ?? moment
    const demand = { amount: lacking, since, recalledAt, untilMs: nowMs + demandMs }
    line.set(nodeId, demand)
    return demand
  }
}
