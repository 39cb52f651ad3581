import type { LeaseAnswer } from './lease-answer'
import type { LeaseClaim } from './take-lease'
import { DataLoader } from '../platform/data-loader'

interface Ports {
  /**
   * Takes leases of several accounts in one commit, except accounts that are locked. Resolves with answers by
   * lease.
   */
  takeFree: (claims: readonly LeaseClaim[]) => Promise<ReadonlyMap<string, LeaseAnswer>>
  /** Takes a lease of one account, as soon as its lock is free. */
  take: (claim: LeaseClaim) => Promise<LeaseAnswer | undefined>
  /** Returns whether a statement failed, and changed nothing, because of its content. */
  isRefused: (thrown: unknown) => boolean
  /** Waits for an answer as long as the database is alive and the deadline allows. */
  watch: <Answer>(statement: Promise<Answer>) => Promise<Answer>
  /** In milliseconds; longer than `watch` waits. */
  timeoutMs: number
}

interface Taking {
  claim: LeaseClaim
  /** By the monotonic clock. */
  askedAtMs: number
  /** Set when its caller has stopped waiting. */
  isAbandoned: boolean
}

/** Returns the claim with its age, right before it is sent. */
const aged = ({ claim, askedAtMs }: Taking): LeaseClaim => ({
  ...claim,
  ageMs: performance.now() - askedAtMs,
})

/** Each statement that waits for a lock occupies a connection of the pool: other work needs connections as well. */
const maxWaiting = 4
/** And each that waits for its commit. */
const maxUnanswered = 4

/** Takes leases, those of many accounts together, as each statement is a commit; of one account one at a time. */
export class LeaseBatches {
  readonly #ports: Ports
  readonly #batches: DataLoader<Taking, LeaseAnswer | null>
  #waiting = 0
  readonly #queue: (() => void)[] = []

  constructor(ports: Ports) {
    this.#ports = ports
    this.#batches = new DataLoader({
      answer: (batch) => this.#takeAll(batch),
      timeoutMs: () => ports.timeoutMs,
      maxUnanswered,
    })
  }

  /**
   * Takes one lease; undefined where the account does not exist. Rejects as the statement does, or when the
   * answer is late.
   */
  async take(claim: LeaseClaim): Promise<LeaseAnswer | undefined> {
    const taking = { claim, askedAtMs: performance.now(), isAbandoned: false }
    try {
      return (await this.#ports.watch(this.#batches.load(taking))) ?? undefined
    } catch (thrown) {
      taking.isAbandoned = true
      throw thrown
    }
  }

  /** Waits for no locked account: those are then taken one by one. */
  async #takeAll(batch: readonly Taking[]) {
    const claims = batch.flatMap((taking) => (taking.isAbandoned ? [] : aged(taking)))
    const leases = claims.length > 0 ? await this.#takeFree(claims) : new Map<string, LeaseAnswer>()
    return batch.map((taking) => leases.get(taking.claim.leaseId) ?? this.#takeAlone(taking))
  }

  async #takeFree(claims: readonly LeaseClaim[]): Promise<ReadonlyMap<string, LeaseAnswer>> {
    try {
      return await this.#ports.takeFree(claims)
    } catch (thrown) {
      // One invalid request fails the whole statement; nothing was changed, and each is then taken one by one.
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
      if (taking.isAbandoned) return null
      return (await this.#ports.take(aged(taking))) ?? null
    } finally {
      const next = this.#queue.shift()
      if (next) next()
      else this.#waiting -= 1
    }
  }
}
