import type { Logger } from 'pino'
import { book, toSettledAttempt, type BookingStorage, type SettledAttempt } from './book-usage'
import type { Charge } from '../ledger/charge'
import type { WrittenOff } from '../ledger/settle'
import { readSettledRange, type SettledRange } from '../journal/settled-range'

/** Rows of a journal that another process writes. */
export interface BookingRequest {
  /** The directory of the journal. */
  directory: string
  range: SettledRange
}

interface Waiting extends BookingRequest {
  resolve: (writtenOff: WrittenOff) => void
  reject: (cause: unknown) => void
}

interface Ports {
  read: typeof readSettledRange
  book: (attempts: readonly SettledAttempt[]) => Promise<WrittenOff>
}

/**
 * Books the journals of other processes of this machine: those that arrive while a batch is booked make the next one
 * together. The processes keep their rows until this has booked them.
 */
export class Booker implements AsyncDisposable {
  readonly #ports: Ports
  #waiting: Waiting[] = []
  #running: Promise<void> | undefined

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /**
   * Books each usage event of the rows, and its log, once, however often they are sent. Resolves with what the house
   * bears of them. Rejects if the rows cannot be read, or with the ledger's error.
   */
  book(request: BookingRequest): Promise<WrittenOff> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...request, resolve, reject })
      this.#running ??= this.#run()
    })
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const requests = this.#waiting
      this.#waiting = []
      await this.#bookTogether(requests)
    }
    // In this very moment: a request that an answer leads to begins the next run.
    this.#running = undefined
  }

  /** If the batch fails, each request is booked alone: rows of one process do not hold up those of the others. */
  async #bookTogether(requests: readonly Waiting[]): Promise<void> {
    if (requests.length > 1 && (await this.#attempt(requests)) === undefined) return
    for (const request of requests) {
      const cause = await this.#attempt([request])
      if (cause !== undefined) request.reject(cause)
    }
  }

  /** Resolves with the error of a batch that was not booked. */
  async #attempt(requests: readonly Waiting[]): Promise<unknown> {
    try {
      const rows = requests.flatMap(({ directory, range }) => this.#ports.read(directory, range))
      const writtenOff = await this.#ports.book(rows.map(toSettledAttempt))
      for (const { resolve } of requests) resolve(writtenOff)
      return undefined
    } catch (thrown) {
      return thrown ?? new Error('booking failed')
    }
  }

  /** Waits for the requests that were sent before. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running
  }
}

/** Creates the booker of a database; `onCommitted` is called after each commit with one of its events. */
export const createBooker = (options: {
  storage: Pick<BookingStorage, 'database'>
  log: Logger
  onCommitted?: (charge: Charge) => void
}): Booker => new Booker({ read: readSettledRange, book: (attempts) => book(attempts, options) })
