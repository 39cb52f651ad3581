import { HeldAmountPublisher, type HeldAmount } from './held-amounts'
import type { CreditManager } from './credit-manager'
import type { LeaseReclaim } from './lease-reclaim'

export interface LeaseUpkeepPorts {
  purses: CreditManager
  /** Reads recent reclaims of other nodes, and publishes what running requests hold. */
  readRecalls: (held: readonly HeldAmount[]) => Promise<LeaseReclaim[]>
  onRecall: (recalled: LeaseReclaim) => void
  /** Records this node's heartbeat. */
  beat: () => Promise<void>
  /** Frees the leases of dead nodes. */
  sweep: () => Promise<void>
  onError: (error: unknown) => void
}

const tickMs = 1000
const beatEveryTicks = 20
const pollEveryTicks = 2
const sweepEveryTicks = 10

/** Renews leases, returns idle ones, records the heartbeat and sweeps the leases of dead nodes, each second. */
export class LeaseUpkeep implements Disposable {
  readonly #ports: LeaseUpkeepPorts
  readonly #held = new HeldAmountPublisher()
  readonly #timer: ReturnType<typeof setInterval>
  #ticks = 0
  #isWorking = false

  constructor(ports: LeaseUpkeepPorts) {
    this.#ports = ports
    this.#timer = setInterval(() => this.#tick(), tickMs)
    this.#timer.unref()
  }

  #tick(): void {
    if (this.#isWorking) return
    this.#isWorking = true
    this.#work()
      .catch(this.#ports.onError)
      .finally(() => (this.#isWorking = false))
  }

  async #work(): Promise<void> {
    const { purses, beat, sweep } = this.#ports
    this.#ticks++
    if (this.#ticks % pollEveryTicks === 0) await this.#poll()
    await purses.tick()
    if (this.#ticks % beatEveryTicks === 0) await beat()
    if (this.#ticks % sweepEveryTicks === 0) await sweep()
  }

  async #poll(): Promise<void> {
    const { purses, readRecalls, onRecall } = this.#ports
    const held = this.#held.next(purses.held())
    if (purses.size === 0 && held.length === 0) return
    for (const recalled of await readRecalls(held)) onRecall(recalled)
    this.#held.confirm(held)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}
