import type { NodeShare } from '../../src/ledger/shares/grant-share'
import type { DecideShares, SharedUsage, ShareRecall } from '../../src/ledger/shares/share-exchange'
import type { UsedBy, WindowSum } from '../../src/ledger/window-sums'

interface Ports {
  sumOf: (usage: UsedBy) => WindowSum
  isBooked: (eventId: string) => boolean
  /** The database's clock. */
  nowMs: () => number
  /** Called once an exchange is stored, for each usage that other nodes have to state. */
  onRecall?: (recall: ShareRecall) => void
}

/** The shares of all nodes, as the database keeps them: an exchange is one step, as under its locks. */
export class ShareStore {
  readonly #ports: Ports
  readonly #shares = new Map<string, readonly NodeShare[]>()
  #turn = 0n

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** The number of exchanges. */
  get exchanges(): number {
    return Number(this.#turn)
  }

  /** Lists the shares of a usage in a window. */
  sharesOf({ id, window }: Pick<UsedBy, 'id' | 'window'>): readonly NodeShare[] {
    return this.#shares.get(`${id} ${window.fromMs}`) ?? []
  }

  exchange(nodeId: string, usages: readonly SharedUsage[], decide: DecideShares): void {
    const { sumOf, isBooked, nowMs, onRecall } = this.#ports
    this.#turn += 1n
    const decisions = decide({
      turn: this.#turn,
      nowMs: nowMs(),
      sums: new Map(usages.map((usage) => [usage.id, sumOf(usage)])),
      bookedIds: usages.flatMap(({ unbooked }) =>
        unbooked.flatMap(({ id }) => (isBooked(id) ? [id] : [])),
      ),
      shares: new Map(usages.map((usage) => [usage.id, this.sharesOf(usage)])),
    })
    for (const [at, usage] of usages.entries()) {
      const decision = decisions[at]
      if (!decision) continue
      const { share, deadNodes, needsOthers } = decision
      const others = this.sharesOf(usage).filter(
        (other) => other.nodeId !== nodeId && !deadNodes.includes(other.nodeId),
      )
      const { id, window } = usage
      this.#shares.set(`${id} ${window.fromMs}`, share ? [...others, share] : others)
      if (needsOthers) onRecall?.({ usageId: id, fromMs: window.fromMs, from: nodeId })
    }
  }
}
