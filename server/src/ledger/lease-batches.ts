import { Batches } from '../db/batches'
import { within } from '../within'
import type { Lease, LeaseWanted } from './take-lease'

interface Ports {
  /** Of several accounts in one commit: those that nobody is at. Leases by their ids. */
  takeFree: (wanted: readonly LeaseWanted[]) => Promise<ReadonlyMap<string, Lease>>
  /** Of one account, as soon as whoever is at it has finished. */
  take: (wanted: LeaseWanted) => Promise<Lease>
  /** Whether a failure is a statement's that did nothing, because of what it was about. */
  isRefused: (thrown: unknown) => boolean
  /** How long an answer is waited for, in milliseconds. */
  patienceMs: number
}

interface Taking {
  wanted: LeaseWanted
  /** Nobody waits for it any more. */
  isGivenUp: boolean
}

/**
 * Takes leases, those of many accounts together, as each statement is a commit; an account is asked for one at a
 * time.
 */
export class LeaseBatches {
  readonly #ports: Ports
  readonly #batches: Batches<Taking, Lease>

  constructor(ports: Ports) {
    this.#ports = ports
    this.#batches = new Batches({
      answer: (batch) => this.#takeAll(batch),
      patienceMs: ports.patienceMs,
    })
  }

  /** One lease. Rejects as the statement does, or when there is no answer in time. */
  async take(wanted: LeaseWanted): Promise<Lease> {
    const taking = { wanted, isGivenUp: false }
    try {
      return await within(this.#batches.ask(taking), this.#ports.patienceMs)
    } catch (thrown) {
      taking.isGivenUp = true
      throw thrown
    }
  }

  /** Waits for no account: one that somebody is at is asked for by itself. */
  async #takeAll(batch: readonly Taking[]): Promise<(Lease | Promise<Lease> | undefined)[]> {
    const leases = await this.#takeFree(batch.map(({ wanted }) => wanted))
    return batch.map(({ wanted, isGivenUp }) => {
      return leases.get(wanted.leaseId) ?? (isGivenUp ? undefined : this.#ports.take(wanted))
    })
  }

  async #takeFree(wanted: readonly LeaseWanted[]): Promise<ReadonlyMap<string, Lease>> {
    try {
      return await this.#ports.takeFree(wanted)
    } catch (thrown) {
      // One that is refused has all refused; nothing was done, and each is asked for by itself.
      if (this.#ports.isRefused(thrown)) return new Map()
      throw thrown
    }
  }
}
