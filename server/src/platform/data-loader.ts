import { noAnswer, withTimeout } from './with-timeout'

interface Ports<Asked, Answer> {
  /**
   * Answers a batch with one statement: an answer for each key in the same order, or the promise of one that takes
   * longer; undefined for a caller that no longer waits. A rejection rejects all of them. Answers after the deadline
   * are ignored: a promise in them must not reject.
   */
  answer: (batch: readonly Asked[]) => Promise<readonly (Answer | Promise<Answer> | undefined)[]>
  /** The timeout of a statement, from when the first key in it was requested. Milliseconds. */
  patienceMs: number
  /** Whether a key is sent however long it has waited. */
  isPatient?: (asked: Asked) => boolean
  /** The most concurrent statements: few, so that requests collect into large batches meanwhile. */
  mostAtOnce?: number
  mostInBatch?: number
  /** A slower statement, as with a distant database, no longer delays the next batch. Milliseconds. */
  aWhileMs?: number
}

interface Waiting<Asked, Answer> {
  asked: Asked
  sinceMs: number
  resolve: (answer: Answer | Promise<Answer>) => void
  reject: (cause: unknown) => void
}

const usual = { isPatient: () => false, mostAtOnce: 2, mostInBatch: 250, aWhileMs: 25 }

/**
 * Batches lookups: when a busy node restarts, requests of hundreds of accounts arrive at once, and none of them is
 * cached. The first lookup is sent at once; lookups that arrive meanwhile share the next statement.
 */
export class DataLoader<Asked, Answer> {
  readonly #ports: Required<Ports<Asked, Answer>>
  #waiting: Waiting<Asked, Answer>[] = []
  #running = 0

  constructor(ports: Ports<Asked, Answer>) {
    this.#ports = { ...usual, ...ports }
  }

  /**
   * Loads the answer for one key. Rejects as the statement does, or on timeout: a key that was not sent in time is
   * never sent, and rejects when its batch comes up, after at most `aWhileMs` for each batch before it.
   */
  ask(asked: Asked): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    this.#waiting.push({ asked, sinceMs: performance.now(), resolve, reject })
    if (this.#running < this.#ports.mostAtOnce) void this.#run()
    return promise
  }

  async #run(): Promise<void> {
    const { mostInBatch, aWhileMs } = this.#ports
    this.#running += 1
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, mostInBatch)
      await withTimeout(this.#answer(batch), aWhileMs).catch(() => undefined)
    }
    this.#running -= 1
  }

  /** Answers one batch with one timer for all that are in time. Never rejects. */
  async #answer(batch: readonly Waiting<Asked, Answer>[]): Promise<void> {
    const { answer, patienceMs, isPatient } = this.#ports
    const nowMs = performance.now()
    let oldestMs = nowMs
    const inTime = batch.filter(({ asked, sinceMs, reject }) => {
      if (isPatient(asked)) return true
      const isInTime = nowMs - sinceMs < patienceMs
      if (isInTime) oldestMs = Math.min(oldestMs, sinceMs)
      else reject(noAnswer())
      return isInTime
    })
    if (inTime.length === 0) return
    try {
      const asked = inTime.map((one) => one.asked)
      const answers = await withTimeout(answer(asked), oldestMs + patienceMs - nowMs)
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
