import type { ReferenceTake } from './reference-ledger'

/** The demand of a node that is short of an account's credit. */
export interface ReferenceDemand {
  amount: bigint
  /** Moments are rising numbers, as statements on one account follow each other. */
  since: number
  recalledAt: number
  untilMs: number
}

const usualMs = 2000

/** The table `credit_demand` as a plain object: by account, the nodes that wait for credit. */
export class ReferenceDemands {
  readonly #lines = new Map<string, Map<string, ReferenceDemand>>()

  /** Returns the node's own demand, that of the nodes before it, and whether there are any others. */
  line(accountId: string, nodeId: string, nowMs: number) {
    const waiting = [...(this.#lines.get(accountId) ?? [])].filter(
      ([, { untilMs }]) => untilMs > nowMs,
    )
    const own = waiting.find(([id]) => id === nodeId)?.[1]
    const others = waiting.filter(([id]) => id !== nodeId)
    const older = others
      .filter(([, { since }]) => since < (own?.since ?? Infinity))
      .reduce((sum, [, { amount }]) => sum + amount, 0n)
    return { own, older, hasOthers: others.length > 0 }
  }

  /** Records the node's demand after a call that left `lacking`. */
  put(
    { accountId, nodeId, isReclaiming, nowMs, demandMs = usualMs }: ReferenceTake,
    outcome: { lacking: bigint; own: ReferenceDemand | undefined; moment: number },
  ): ReferenceDemand | undefined {
    const { lacking, own, moment } = outcome
    const line = this.#lines.get(accountId) ?? new Map<string, ReferenceDemand>()
    this.#lines.set(accountId, line)
    if (lacking <= 0n) {
      if (own) line.delete(nodeId)
      return own
    }
    if (!isReclaiming && !own) return undefined
    const recalledAt = isReclaiming ? moment : (own?.recalledAt ?? 0)
    const since = own?.since ?? moment
    const demand = { amount: lacking, since, recalledAt, untilMs: nowMs + demandMs }
    line.set(nodeId, demand)
    return demand
  }

  /** Returns whether there was a demand. */
  delete(accountId: string, nodeId: string): boolean {
    return this.#lines.get(accountId)?.delete(nodeId) ?? false
  }
}
