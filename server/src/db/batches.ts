import { within } from '../within'

/** One that waits for its answer. */
export interface Question<Asked> {
  readonly asked: Asked
  /** Nobody waits for the answer any more. */
  readonly isGivenUp: boolean
}

interface Ports<Asked, Answer> {
  /**
   * Answers a batch by one statement: an answer for each, in their order, or the promise of one that takes
   * longer; undefined for who needs none any more. A rejection is told to all of them.
   */
  answer: (
    batch: readonly Question<Asked>[],
  ) => Promise<readonly (Answer | Promise<Answer> | undefined)[]>
  /** How long an answer is waited for, in milliseconds. */
  patienceMs: number
}

interface Waiting<Asked, Answer> extends Question<Asked>, PromiseWithResolvers<Answer> {
  isGivenUp: boolean
}

/** Few, so that those who come meanwhile are many. */
const mostAtOnce = 2
const mostInBatch = 250
/** A statement that takes longer, as where the database is far away, holds nobody up any more. */
const aWhileMs = 25

/**
 * Asks the database for many at a time: when a busy node starts again, hundreds of accounts come to it at once of
 * which it knows nothing. Who comes first is asked for at once; who comes meanwhile shares the next statement.
 */
export class Batches<Asked, Answer> {
  readonly #ports: Ports<Asked, Answer>
  #waiting: Waiting<Asked, Answer>[] = []
  #running = 0

  constructor(ports: Ports<Asked, Answer>) {
    this.#ports = ports
  }

  /**
   * The answer for one. Rejects as the statement does, or when there is no answer in time: what was not sent by
   * then is not sent any more.
   */
  async ask(asked: Asked): Promise<Answer> {
    const waiting = { ...Promise.withResolvers<Answer>(), asked, isGivenUp: false }
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
      if (batch.length > 0) await within(this.#answer(batch), aWhileMs).catch(() => undefined)
    }
    this.#running -= 1
  }

  /** Never rejects. */
  async #answer(batch: readonly Waiting<Asked, Answer>[]): Promise<void> {
    try {
      const answers = await this.#ports.answer(batch)
      for (const [at, { resolve }] of batch.entries()) {
        const answer = answers[at]
        if (answer !== undefined) resolve(answer)
      }
    } catch (thrown) {
      for (const { reject } of batch) reject(thrown)
    }
  }
}
