import { systemClock, type Clock } from './clock'
import { noAnswer, withTimeout } from './with-timeout'

interface Ports<Key, Answer> {
  /**
   * Answers a batch with one statement: an answer for each key in the same order, or the promise of one that takes
   * longer; undefined for a caller that no longer waits. A rejection rejects all of them. Answers after the deadline
   * are ignored: a promise in them must not reject.
   */
  answer: (batch: readonly Key[]) => Promise<readonly (Answer | Promise<Answer> | undefined)[]>
  /** Returns the timeout of a statement, from when the first key in it was requested. Milliseconds. */
  timeoutMs: () => number
  /** Whether a key is sent however long it has waited. */
  isAlwaysSent?: (key: Key) => boolean
  /** The most concurrent statements: few, so that requests collect into large batches meanwhile. */
  maxConcurrent?: number
  maxBatch?: number
  /** A slower statement, as with a distant database, no longer delays the next batch. Milliseconds. */
  maxDelayMs?: number
  /** The most statements without an answer, slow ones included: other work needs connections as well. */
  maxUnanswered?: number
  clock?: Clock
}

interface Waiting<Key, Answer> {
  key: Key
  sinceMs: number
  resolve: (answer: Answer | Promise<Answer>) => void
  reject: (cause: unknown) => void
}

const defaults = {
  isAlwaysSent: () => false,
  maxConcurrent: 2,
  maxBatch: 250,
  maxDelayMs: 25,
  maxUnanswered: Infinity,
  clock: systemClock,
}

/**
 * Batches lookups: when a busy node restarts, requests of hundreds of accounts arrive at once, and none of them is
 * cached. The first lookup is sent at once; lookups that arrive meanwhile share the next statement.
 */
export class DataLoader<Key, Answer> {
  readonly #ports: Required<Ports<Key, Answer>>
  #waiting: Waiting<Key, Answer>[] = []
  #running = 0
  readonly #unanswered = new Set<Promise<void>>()

  constructor(ports: Ports<Key, Answer>) {
    this.#ports = { ...defaults, ...ports }
  }

  /**
   * Loads the answer for one key. Rejects as the statement does, or on timeout: a key that was not sent in time is
   * never sent, and rejects when its batch comes up, after at most `maxDelayMs` for each batch before it.
   */
  load(key: Key): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    this.#waiting.push({ key, sinceMs: this.#ports.clock.monotonicMs(), resolve, reject })
    if (this.#running < this.#ports.maxConcurrent) void this.#run()
    return promise
  }

  async #run(): Promise<void> {
    const { maxBatch, maxDelayMs, maxUnanswered } = this.#ports
    this.#running += 1
    while (this.#waiting.length > 0) {
      if (this.#unanswered.size >= maxUnanswered) {
        await Promise.race(this.#unanswered)
        continue
      }
      const answering = this.#answer(this.#waiting.splice(0, maxBatch))
      this.#unanswered.add(answering)
      void answering.then(() => this.#unanswered.delete(answering))
      await withTimeout(answering, maxDelayMs, this.#ports).catch(() => undefined)
    }
    this.#running -= 1
  }

  /** Answers one batch with one timer for all that are in time. Never rejects. */
  async #answer(batch: readonly Waiting<Key, Answer>[]): Promise<void> {
    const { answer, isAlwaysSent } = this.#ports
    const timeoutMs = this.#ports.timeoutMs()
    const nowMs = this.#ports.clock.monotonicMs()
    let oldestMs = nowMs
    const inTime = batch.filter(({ key, sinceMs, reject }) => {
      if (isAlwaysSent(key)) return true
      const isInTime = nowMs - sinceMs < timeoutMs
      if (isInTime) oldestMs = Math.min(oldestMs, sinceMs)
      else reject(noAnswer())
      return isInTime
    })
    if (inTime.length === 0) return
    try {
      const keys = inTime.map((one) => one.key)
      const answers = await withTimeout(answer(keys), oldestMs + timeoutMs - nowMs, this.#ports)
      for (const [at, { resolve, reject }] of inTime.entries()) {
        const own = answers[at]
        if (own === undefined) reject(noAnswer())
        else resolve(own)
      }
    } catch (thrown) {
      for (const { reject } of inTime) reject(thrown)
    }
  }
}
