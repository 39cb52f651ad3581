import { HeldAmountPublisher, type HeldAmount } from './held-amounts'
import type { CreditManager } from './credit-manager'
import type { LeaseReclaim } from './lease-reclaim'
import { Periodic } from '../platform/periodic'

export interface LeaseUpkeepPorts {
  credit: Pick<CreditManager, 'listHeld' | 'size' | 'tick'>
  /** Reads recent reclaims of other nodes, and publishes what running requests hold. */
  readReclaims: (heldAmounts: readonly HeldAmount[]) => Promise<LeaseReclaim[]>
  onReclaim: (reclaim: LeaseReclaim) => void
  /** Records this node's heartbeat. */
  beat: () => Promise<void>
  /** Frees the leases of dead nodes. */
  sweep: () => Promise<void>
  onError: (error: unknown) => void
}

const tickMs = 1000
/** The intervals of what is not done in each tick. */
const pollMs = 2 * tickMs
const sweepMs = 10 * tickMs
const beatMs = 20 * tickMs

/** Work that is due at an interval, and due again at the next tick if it failed. */
class DueWork {
  readonly #intervalMs: number
  readonly #run: () => Promise<void>
  #dueAtMs: number

  constructor(intervalMs: number, run: () => Promise<void>) {
    this.#intervalMs = intervalMs
    this.#run = run
    this.#dueAtMs = performance.now() + intervalMs
  }

  async runIfDue(): Promise<void> {
    const nowMs = performance.now()
    // Timers fire early by a fraction of a millisecond.
    if (nowMs < this.#dueAtMs - tickMs / 2) return
    await this.#run()
    this.#dueAtMs = nowMs + this.#intervalMs
  }
}

/** Renews leases, returns idle ones, records the heartbeat and sweeps the leases of dead nodes, each second. */
export class LeaseUpkeep implements Disposable {
  readonly #ports: LeaseUpkeepPorts
  readonly #heldAmounts = new HeldAmountPublisher()
  readonly #periodic: Periodic
  readonly #polling = new DueWork(pollMs, () => this.#poll())
  readonly #beating: DueWork
  readonly #sweeping: DueWork

  constructor(ports: LeaseUpkeepPorts) {
    this.#ports = ports
    const { onError, beat, sweep } = ports
    this.#beating = new DueWork(beatMs, beat)
    this.#sweeping = new DueWork(sweepMs, sweep)
    this.#periodic = new Periodic({ intervalMs: tickMs, run: () => this.#work(), onError })
  }

  /** Reports an error, unless a shutdown may have caused it. */
  readonly #report = (error: unknown) => {
    if (!this.#periodic.isStopped) this.#ports.onError(error)
  }

  /** Does all that is due, though some of it fails: renewals above all, which come first. */
  async #work(): Promise<void> {
    await this.#ports.credit.tick().catch(this.#report)
    for (const due of [this.#polling, this.#beating, this.#sweeping])
      await due.runIfDue().catch(this.#report)
  }

  async #poll(): Promise<void> {
    const { credit, readReclaims, onReclaim } = this.#ports
    const heldAmounts = this.#heldAmounts.next(credit.listHeld())
    if (credit.size === 0 && heldAmounts.length === 0) return
    for (const reclaim of await readReclaims(heldAmounts)) onReclaim(reclaim)
    this.#heldAmounts.confirm(heldAmounts)
  }

  [Symbol.dispose](): void {
    this.#periodic.stop()
  }
}
