import { z } from 'zod'
import { reportCharges, toSettledAttempt, type SettledAttempt } from './book-usage'
import type { FlushedRow } from './flusher'
import type { WrittenOff } from '../ledger/settle'
import { generationOf, positionOf } from '../journal/segment'
import { UnreadableRows, type SettledRange } from '../journal/settled-range'

/** The reply of a booking process, as it crosses processes. */
export type BookingReply =
  /** The amounts that the house bears, in nano-dollars, by event. */
  | { writtenOff: [string, string][] }
  /** The ledger rejected the rows, or does not answer. */
  | { failure: string }
  /** The rows cannot be read. */
  | { unreadable: string }

const bookingReply: z.ZodType<BookingReply> = z.union([
  z.object({ writtenOff: z.array(z.tuple([z.string(), z.string()])) }),
  z.object({ failure: z.string() }),
  z.object({ unreadable: z.string() }),
])

/** Returns the reply of a booking process, once `booked` is settled. Never rejects. */
export const toBookingReply = (booked: Promise<WrittenOff>): Promise<BookingReply> =>
  booked.then(
    (all) => ({ writtenOff: [...all].map(([id, amount]) => [id, String(amount)]) }),
    (err: unknown) => {
      const message = err instanceof Error ? err.message : String(err)
      return err instanceof UnreadableRows ? { unreadable: message } : { failure: message }
    },
  )

interface Ports {
  /** Sends the range to the booking process; resolves with its reply, undefined without one. Never rejects. */
  ask: (range: SettledRange) => Promise<unknown>
  /** Books in this process. */
  bookHere: (attempts: readonly SettledAttempt[]) => Promise<unknown>
  /** Called with the reason why rows are booked in this process. */
  onLocal: (reason: string) => void
}

/** Books settled rows in another process of this machine, which reads them from the journal's files. */
export class RemoteBooking {
  readonly #ports: Ports
  /** The number of the last row that was booked. */
  #booked: number | undefined

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /**
   * Resolves when all rows are booked; books them here where the other process does not reply, or cannot read them.
   * Rejects where the ledger does.
   */
  async book(rows: readonly FlushedRow[]): Promise<void> {
    const [first, last] = [rows.at(0), rows.at(-1)]
    if (!first || !last) return
    const start = this.#booked ?? positionOf(generationOf(first.seq), 0)
    const range = { start, first: first.seq, last: last.seq, count: rows.length }
    const reply = bookingReply.safeParse(await this.#ports.ask(range))
    const attempts = rows.map(toSettledAttempt)
    if (!reply.success) {
      await this.#bookHere(attempts, 'no reply')
    } else if ('unreadable' in reply.data) {
      await this.#bookHere(attempts, reply.data.unreadable)
    } else if ('failure' in reply.data) {
      throw new Error(reply.data.failure)
    } else {
      reportCharges(attempts, readAmounts(reply.data.writtenOff))
    }
    this.#booked = last.seq
  }

  async #bookHere(attempts: readonly SettledAttempt[], reason: string): Promise<void> {
    this.#ports.onLocal(reason)
    await this.#ports.bookHere(attempts)
  }
}

const readAmounts = (writtenOff: readonly [string, string][]): WrittenOff =>
  new Map(writtenOff.map(([id, amount]) => [id, BigInt(amount)]))
