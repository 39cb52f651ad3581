import type { StopSignal } from './http/stop-signal'
import type { OutputAllowance } from './stream-bounds'
import type { RelayedStream } from '../providers/openai/relayed-stream'

/** Vocabularies differ a little from those for which the lower bound of a text's tokens was measured. */
const tolerance = 1 + 1 / 32

/** The tokens, by their lower bound, at which a stream must get more, or end. */
const limitOf = (allowance: OutputAllowance | undefined): number =>
  allowance ? allowance.tokens * tolerance : Infinity

/** The part of a stream's output that is paid for, which is extended as the stream goes on. */
export class PaidOutput {
  readonly #relayed: Pick<RelayedStream, 'tokensAtLeast'>
  readonly #allowance: OutputAllowance | undefined
  readonly #deadline: StopSignal
  /** Tokens above which the allowance has to grow. */
  #limit: number
  /** The result of extending it: the stream pauses until it is known. */
  #extension: Promise<boolean> | false | undefined

  constructor(
    relayed: Pick<RelayedStream, 'tokensAtLeast'>,
    allowance: OutputAllowance | undefined,
    deadline: StopSignal,
  ) {
    this.#relayed = relayed
    this.#allowance = allowance
    this.#deadline = deadline
    this.#limit = limitOf(allowance)
  }

  /** The stream continues once `isExtended` is known. */
  get isPaused(): boolean {
    return this.#extension !== undefined
  }

  /** False where extending it takes a while, or no more is available. */
  allowsMore(): boolean {
    return !this.#isBeyond() || this.#extendImmediately()
  }

  /** Any length is allowed from here on. */
  lift(): void {
    this.#limit = Infinity
  }

  #isBeyond(): boolean {
    return this.#limit < Infinity && (this.#relayed.tokensAtLeast?.() ?? 0) > this.#limit
  }

  #extendImmediately(): boolean {
    while (this.#isBeyond()) {
      const extended = this.#allowance?.extend() ?? false
      if (extended !== true) {
        this.#extension = extended
        return false
      }
      this.#limit = limitOf(this.#allowance)
    }
    return true
  }

  /** Waits for more credit. Throws where the stream was ended meanwhile. */
  async isExtended(): Promise<boolean> {
    while (this.#extension !== undefined) {
      const isExtended = await this.#extension
      if (this.#deadline.aborted) throw this.#deadline.reason
      this.#extension = undefined
      // A stream that is drained meanwhile is no longer cut.
      if (this.#limit === Infinity) return true
      if (!isExtended) return false
      this.#limit = limitOf(this.#allowance)
      this.#extendImmediately()
    }
    return true
  }
}
