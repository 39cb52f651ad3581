import { noAnswer, withTimeout } from '../with-timeout'

interface Ports<Asked, Answer> {
  /**
   * Answers a batch by one statement: an answer for each, in their order, or the promise of one that takes
   * longer; undefined for who waits no more. A rejection is told to all of them. What comes after the deadline is
   * not looked at: a promise in it must not reject.
   */
  answer: (batch: readonly Asked[]) => Promise<readonly (Answer | Promise<Answer> | undefined)[]>
  /** How long a statement is waited for, from when the first in it was asked for. Milliseconds. */
  patienceMs: number
  /** Whether it is sent however long it has waited. */
  isPatient?: (asked: Asked) => boolean
  /** Statements under way at a time: few, so that those who come meanwhile are many. */
  mostAtOnce?: number
  mostInBatch?: number
  /** One that takes longer, as where the database is far away, holds nobody up any more. Milliseconds. */
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
 * Asks a database for many at a time: when a busy node starts again, hundreds of accounts come to it at once of
 * which it knows nothing. Who comes first is asked for at once; who comes meanwhile shares the next statement.
 */
export class DataLoader<Asked, Answer> {
  readonly #ports: Required<Ports<Asked, Answer>>
  #waiting: Waiting<Asked, Answer>[] = []
  #running = 0

  constructor(ports: Ports<Asked, Answer>) {
    this.#ports = { ...usual, ...ports }
  }

  /**
   * The answer for one. Rejects as the statement does, or when there is no answer in time: what was not sent by
   * then is not sent any more, and is told when its turn comes, which is `aWhileMs` for each batch before it.
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

  /** Never rejects. One timer for all that are in time. */
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
