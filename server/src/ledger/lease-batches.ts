import type { LeaseAnswer } from './lease-answer'
import type { LeaseWanted } from './take-lease'
import { DataLoader } from '../db/data-loader'

interface Ports {
  /** Of several accounts in one commit: those that are not locked. Answers by lease. */
  takeFree: (wanted: readonly LeaseWanted[]) => Promise<ReadonlyMap<string, LeaseAnswer>>
  /** Of one account, as soon as its lock is free. */
  take: (wanted: LeaseWanted) => Promise<LeaseAnswer | undefined>
  /** Whether a statement failed, and did nothing, because of what it was about. */
  isRefused: (thrown: unknown) => boolean
  /** Waits for an answer as long as that makes sense. */
  watch: <Answer>(statement: Promise<Answer>) => Promise<Answer>
  /** Longer than `watch` waits, in milliseconds. */
  patienceMs: number
}

interface Taking {
  wanted: LeaseWanted
  /** Its caller has stopped waiting. */
  isGivenUp: boolean
}

/** Statements that wait for a lock each take a connection of the pool: others need some as well. */
const maxWaiting = 4

/**
 * Takes leases, those of many accounts together, as each statement is a commit; an account is asked for one at a
 * time.
 */
export class LeaseBatches {
  readonly #ports: Ports
  readonly #batches: DataLoader<Taking, LeaseAnswer | null>
  #waiting = 0
  readonly #queue: (() => void)[] = []

  constructor(ports: Ports) {
    this.#ports = ports
    this.#batches = new DataLoader({
      answer: (batch) => this.#takeAll(batch),
      patienceMs: ports.patienceMs,
    })
  }

  /** One lease; undefined where there is no such account. Rejects as the statement does, or when there is no answer in time. */
  async take(wanted: LeaseWanted): Promise<LeaseAnswer | undefined> {
    const taking = { wanted, isGivenUp: false }
    try {
      return (await this.#ports.watch(this.#batches.ask(taking))) ?? undefined
    } catch (thrown) {
      taking.isGivenUp = true
      throw thrown
    }
  }

  /** Waits for no account: one that is locked is asked for by itself. */
  async #takeAll(batch: readonly Taking[]) {
    const wanted = batch.flatMap((taking) => (taking.isGivenUp ? [] : taking.wanted))
    const leases = wanted.length > 0 ? await this.#takeFree(wanted) : new Map<string, LeaseAnswer>()
    return batch.map((taking) => leases.get(taking.wanted.leaseId) ?? this.#takeAlone(taking))
  }

  async #takeFree(wanted: readonly LeaseWanted[]): Promise<ReadonlyMap<string, LeaseAnswer>> {
    try {
      return await this.#ports.takeFree(wanted)
    } catch (thrown) {
      // One that is refused has all refused; nothing was done, and each is asked for by itself.
      if (this.#ports.isRefused(thrown)) return new Map()
      throw thrown
    }
  }

  async #takeAlone(taking: Taking): Promise<LeaseAnswer | null> {
    if (this.#waiting >= maxWaiting) {
      await new Promise<void>((resolve) => this.#queue.push(resolve))
    } else {
      this.#waiting += 1
    }
    try {
      if (taking.isGivenUp) return null
      return (await this.#ports.take(taking.wanted)) ?? null
    } finally {
      const next = this.#queue.shift()
      if (next) next()
      else this.#waiting -= 1
    }
  }
}
