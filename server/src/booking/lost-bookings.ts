import type { SettledFile } from '../journal/settled-files'
import type { EventKey, LookedUpEvents } from '../ledger/look-up-events'

interface Ports {
  /** Looks events up in the ledger. Rejects if the database does not answer. */
  lookUp: (events: readonly EventKey[]) => Promise<LookedUpEvents>
  /** Returns the files of each journal whose usage this process books, the newest first. */
  journals: () => AsyncIterable<SettledFile>[]
  /** Reads the key of a settled attempt out of its body; undefined if that is of another version. */
  keyOf: (body: string) => EventKey | undefined
  /** Books each usage event, and its log, once, however often it arrives. */
  book: (bodies: readonly string[]) => Promise<void>
  /** The wall clock in milliseconds. */
  now: () => number
  /** Called when a booking is missing that the database had confirmed. */
  onLoss: () => void
  /** Called when all that the journals have is in the ledger again, with how many attempts it lacked. */
  onMended: (result: { booked: number; wasLost: boolean }) => void
  /** Called if attempts were found and left alone, as the ledger has none of the journals' at all. */
  onForeign: (attempts: number) => void
  onError: (error: unknown) => void
}

interface Options {
  /** The time for which booked files are kept, at least; older ones are read only while they have what is missing. */
  keptMs: number
  /** Whether the journals have to be read first: an earlier start may have ended before it did. */
  isDoubtful: boolean
}

/** One journal's reading. */
interface Reading {
  /** Whether the ledger has had some of the attempts: those of another database are not booked in this one. */
  isOwn: boolean
  /** Attempts that the ledger lacks, until it is known to be the one that had them. */
  unproven: string[]
  booked: number
}

interface KeyedBody {
  body: string
  key: EventKey
}

const maxMarks = 1000
const maxBatch = 500
const maxUnproven = 50_000

/**
 * Finds out that the database has gone back in time, as by a failover to a standby that lags, and books again what it lost. The
 * evidence is the last booking of this process: commits survive in their order, so whatever else was lost, the last one before
 * it was.
 */
export class LostBookings implements Disposable {
  readonly #ports: Ports
  readonly #keptMs: number
  /** An event of each booking since the last check, and of the last one before it. */
  #marks: EventKey[] = []
  #markedAtMs = -Infinity
  #isDoubtful: boolean
  /** Whether a confirmed booking is missing. */
  #isProven = false
  #isStopped = false
  #running: Promise<void> | undefined

  constructor(ports: Ports, { keptMs, isDoubtful }: Options) {
    this.#ports = ports
    this.#keptMs = keptMs
    this.#isDoubtful = isDoubtful
  }

  /** Remembers an event of a booking that the database confirmed. */
  note({ id, startedAt, isOrphan }: EventKey): void {
    this.#marks.push({ id, startedAt, isOrphan })
    this.#markedAtMs = this.#ports.now()
    if (this.#marks.length <= maxMarks) return
    // Bookings succeed and checks do not: only the journals show what is there of the earlier ones.
    this.#marks.shift()
    this.#isDoubtful = true
  }

  /** Checks that the database still has this process's last bookings, and books again what it lost. Never rejects. */
  check(): Promise<void> {
    return (this.#running ??= this.#check()
      .catch((error: unknown) => {
        if (!this.#isStopped) this.#ports.onError(error)
      })
      .finally(() => (this.#running = undefined)))
  }

  [Symbol.dispose](): void {
    this.#isStopped = true
  }

  async #check(): Promise<void> {
    const marks = [...this.#marks]
    const isRecent = this.#ports.now() - this.#markedAtMs < this.#keptMs
    let survivor: EventKey | undefined
    if (marks.length > 0 && (isRecent || this.#isDoubtful)) {
      const { missingIds } = await this.#ports.lookUp(marks)
      survivor = marks.findLast(({ id }) => !missingIds.has(id))
      if (missingIds.size > 0) this.#lose()
    }
    if (this.#isDoubtful) await this.#mend()
    else survivor = marks.at(-1)
    const checked = new Set(marks)
    const since = this.#marks.filter((mark) => !checked.has(mark))
    this.#marks = survivor ? [survivor, ...since] : since
  }

  #lose(): void {
    this.#isDoubtful = true
    if (this.#isProven) return
    this.#isProven = true
    this.#ports.onLoss()
  }

  async #mend(): Promise<void> {
    const wasLost = this.#isProven
    this.#isDoubtful = false
    const reading: Reading = { isOwn: wasLost, unproven: [], booked: 0 }
    try {
      for (const files of this.#ports.journals()) await this.#readJournal(files, reading)
    } catch (thrown) {
      this.#isDoubtful = true
      throw thrown
    }
    if (this.#isStopped) return
    this.#isProven = false
    const { isOwn, unproven, booked } = reading
    if (!isOwn && unproven.length > 0) this.#ports.onForeign(unproven.length)
    if (wasLost || booked > 0) this.#ports.onMended({ booked, wasLost })
  }

  async #readJournal(files: AsyncIterable<SettledFile>, reading: Reading): Promise<void> {
    const sinceMs = this.#ports.now() - this.#keptMs
    let newest: EventKey | undefined
    for await (const { modifiedMs, bodies } of files) {
      let missingCount = 0
      const isNewest = newest === undefined
      for (let at = 0; at < bodies.length; at += maxBatch) {
        if (this.#isStopped || reading.unproven.length > maxUnproven) return
        const mendedBatch = await this.#bookMissing(bodies.slice(at, at + maxBatch), reading)
        missingCount += mendedBatch.missing
        if (isNewest) newest = mendedBatch.last ?? newest
      }
      // What was booked late lies in older files.
      if (missingCount === 0 && modifiedMs < sinceMs) break
    }
    // The database may go back before this start has booked anything.
    if (newest) this.note(newest)
  }

  /**
   * Books the attempts that the ledger lacks, if it is the one that had the others. Resolves with how many there are, and with
   * the last that it has had all the time.
   */
  async #bookMissing(
    bodies: readonly string[],
    reading: Reading,
  ): Promise<{ missing: number; last: EventKey | undefined }> {
    const keyed = bodies.flatMap((body): KeyedBody | [] => {
      const key = this.#ports.keyOf(body)
      return key ? { body, key } : []
    })
    const { knownIds, missingIds } = await this.#ports.lookUp(keyed.map(({ key }) => key))
    for (const { body, key } of keyed) if (missingIds.has(key.id)) reading.unproven.push(body)
    if (knownIds.size > 0) reading.isOwn = true
    while (reading.isOwn && reading.unproven.length > 0) {
      const batch = reading.unproven.slice(0, maxBatch)
      await this.#ports.book(batch)
      reading.unproven.splice(0, batch.length)
      reading.booked += batch.length
    }
    return {
      missing: missingIds.size,
      last: keyed.findLast(({ key }) => knownIds.has(key.id))?.key,
    }
  }
}
