import type { Customers } from './customers'
import type { SimulatedDatabase } from './database'
import type { SimulatedNode } from './node'
import { Random } from './random'
import type { Scheduler } from './scheduler'
import type { LedgerSnapshot, ReferenceLedger } from '../testing/ledger/reference-ledger'

/** Failovers of the database to a standby that lags. */
export interface Failovers {
  /** The mean time between two of them, in milliseconds. */
  everyMs: number
  /** The most that the standby lags, in milliseconds. */
  maxLagMs: number
  /** Whether nodes book again what was lost. */
  isMended: boolean
}

interface Dependencies {
  scheduler: Scheduler
  database: SimulatedDatabase
  ledger: ReferenceLedger
  nodes: readonly SimulatedNode[]
  customers: Pick<Customers, 'toppedUp'>
  onChange: () => void
}

interface Replica {
  atMs: number
  ledger: LedgerSnapshot
  toppedUp: bigint
}

const replicateEveryMs = 200
const maxReconnectMs = 1000

/**
 * A standby of the database, which takes over from time to time and lacks what was committed last. It draws from numbers of its
 * own, so that a seed without failovers stays the run that it is.
 */
export class LaggingStandby {
  readonly #dependencies: Dependencies
  readonly #failovers: Failovers
  readonly #random: Random
  #replicas: Replica[] = []
  #isOver = false
  /** The number of failovers, and of booked events that they lost. */
  readonly counts = { failovers: 0, lost: 0 }

  constructor(dependencies: Dependencies, failovers: Failovers, seed: number) {
    this.#dependencies = dependencies
    this.#failovers = failovers
    this.#random = new Random(seed + 1_000_003)
    this.#replicate()
    this.#schedule()
  }

  /** Ends the failovers. */
  stop(): void {
    this.#isOver = true
  }

  #replicate(): void {
    if (this.#isOver) return
    const { scheduler, ledger, customers } = this.#dependencies
    const { nowMs } = scheduler
    const { toppedUp } = customers
    this.#replicas.push({ atMs: nowMs, ledger: ledger.takeSnapshot(), toppedUp })
    const oldest = nowMs - this.#failovers.maxLagMs
    this.#replicas = this.#replicas.filter(({ atMs }) => atMs >= oldest)
    scheduler.after(replicateEveryMs, () => this.#replicate())
  }

  #schedule(): void {
    const { scheduler } = this.#dependencies
    scheduler.after(this.#random.waitMs(this.#failovers.everyMs), () => {
      if (this.#isOver) return
      this.#failOver(this.#random.pick(this.#replicas))
      this.#schedule()
    })
  }

  #failOver(replica: Replica): void {
    const { scheduler, database, ledger, nodes, customers, onChange } = this.#dependencies
    const before = ledger.booked.size
    ledger.goBack(replica.ledger)
    customers.toppedUp = replica.toppedUp
    this.#replicas = [{ ...replica, atMs: scheduler.nowMs }]
    this.counts.failovers += 1
    this.counts.lost += before - ledger.booked.size
    database.failOver()
    const awayMs = this.#random.logarithmic(100, 10_000)
    database.refusesUntilMs = Math.max(database.refusesUntilMs, scheduler.nowMs + awayMs)
    for (const node of nodes) {
      const reconnectMs = this.#random.next() * maxReconnectMs
      scheduler.after(awayMs + reconnectMs, () => node.reconnect())
    }
    onChange()
  }
}
