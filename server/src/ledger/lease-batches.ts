import type { Lease, LeaseWanted } from './take-lease'
import { within } from '../within'

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

interface Waiting extends PromiseWithResolvers<Lease> {
  wanted: LeaseWanted
  isGivenUp: boolean
}

/** Few, so that those who come meanwhile are many. */
const mostAtOnce = 2
const mostInBatch = 250
/** A statement that takes longer, as where the database is far away, holds nobody up any more. */
const aWhileMs = 25

/**
 * Takes leases, those of many accounts together: each statement is a commit, and when a busy node starts
 * again hundreds of accounts have none. Who comes first is served at once; who comes meanwhile shares the
 * next statement.
 */
export class LeaseBatches {
  readonly #ports: Ports
  #waiting: Waiting[] = []
  #running = 0

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /**
   * One lease; an account is asked for one at a time. Rejects as the statement does, or when there is no
   * answer in time: what was not sent by then is not sent any more.
   */
  async take(wanted: LeaseWanted): Promise<Lease> {
    const waiting = { ...Promise.withResolvers<Lease>(), wanted, isGivenUp: false }
    this.#waiting.push(waiting)
    if (this.#running < mostAtOnce) void this.#run()
    try {
      return await within(waiting.promise, this.#ports.patienceMs)
    } catch (thrown) {
      waiting.isGivenUp = true
      throw thrown
    }
  }

  async #run(): Promise<void> {
    this.#running += 1
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, mostInBatch).filter(({ isGivenUp }) => !isGivenUp)
      if (batch.length > 0) await within(this.#takeBatch(batch), aWhileMs).catch(() => undefined)
    }
    this.#running -= 1
  }

  /** Never rejects, and waits for no account. */
  async #takeBatch(batch: readonly Waiting[]): Promise<void> {
    const { takeFree, isRefused } = this.#ports
    let leases: ReadonlyMap<string, Lease> = new Map()
    try {
      leases = await takeFree(batch.map(({ wanted }) => wanted))
    } catch (thrown) {
      // One that is refused has all refused; nothing was done, and each is asked for by itself.
      if (!isRefused(thrown)) {
        for (const { reject } of batch) reject(thrown)
        return
      }
    }
    for (const waiting of batch) {
      const lease = leases.get(waiting.wanted.leaseId)
      if (lease) waiting.resolve(lease)
      else if (!waiting.isGivenUp) this.#takeAlone(waiting)
    }
  }

  #takeAlone({ wanted, resolve, reject }: Waiting): void {
    this.#ports.take(wanted).then(resolve, reject)
  }
}
