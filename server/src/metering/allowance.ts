import { InsufficientCredit, type CreditDemand } from '../ledger/credit-demand'
import type { Hold } from '../ledger/local-lease'
import { roundedUp } from './cost'

interface Options {
  hold: Hold
  /** The output that the hold pays for, and the most that it may be extended to. */
  tokens: number
  most: number
  /** Millionths of a nano-dollar per token of output; above zero. */
  rate: bigint
  /** Holds more of the account's credit, as the request's first hold was taken. */
  more: (need: CreditDemand) => Hold | Promise<Hold>
  onError: (error: unknown) => void
}

/** The least number of tokens by which a hold grows, so that a long answer extends it a few times only. */
const leastStep = 512
/** A smaller grant is not worth continuing the answer. */
const leastGrant = 16

/** The output that a running stream's hold pays for; it grows with the stream. */
export class Allowance {
  readonly #options: Options
  #tokens: number
  #isAsking = false

  constructor(options: Options) {
    this.#options = options
    this.#tokens = options.tokens
  }

  /** The tokens of output, in all answers of the stream. */
  get tokens(): number {
    return this.#tokens
  }

  /** The tokens beyond the initial ones. */
  get gained(): number {
    return this.#tokens - this.#options.tokens
  }

  /**
   * Extends the hold, out of the lease in memory if that has enough. Returns false, or a promise of it, where the
   * limit or the account allows no more. Never throws or rejects. One call at a time.
   */
  extend(): boolean | Promise<boolean> {
    const { most, more } = this.#options
    const step = Math.min(Math.max(leastStep, this.#tokens >> 2), most - this.#tokens)
    if (step <= 0 || this.#isAsking) return false
    const floor = Math.min(step, leastGrant)
    try {
      const hold = more({ full: this.#priceOf(step), floor: this.#priceOf(floor), minimum: 0n })
      if (!(hold instanceof Promise)) return this.#take(hold, step)
      this.#isAsking = true
      return hold
        .then((held) => this.#take(held, step))
        .catch((thrown: unknown) => this.#refuse(thrown))
        .finally(() => (this.#isAsking = false))
    } catch (thrown) {
      return this.#refuse(thrown)
    }
  }

  #priceOf(tokens: number): bigint {
    return roundedUp(BigInt(tokens) * this.#options.rate)
  }

  /** Returns false where the request has ended meanwhile, or its lease was replaced: it ends on the old one. */
  #take(extension: Hold, step: number): boolean {
    const { hold, rate } = this.#options
    const { amount } = extension
    if (!hold.absorb(extension)) {
      extension.settle(0n)
      return false
    }
    const paid = (amount * 1_000_000n) / rate
    this.#tokens += paid < BigInt(step) ? Number(paid) : step
    return true
  }

  #refuse(thrown: unknown): false {
    if (!(thrown instanceof InsufficientCredit)) this.#options.onError(thrown)
    return false
  }
}
