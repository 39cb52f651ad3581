import { InsufficientCredit, type CreditDemand } from '../ledger/credit-demand'
import type { Hold } from '../ledger/local-lease'
import { roundedUp } from './cost'

interface Options {
  hold: Hold
  /** What the hold pays for, and what it may be extended to. */
  tokens: number
  most: number
  /** Millionths of a nano-dollar, of a token of output; above zero. */
  rate: bigint
  /** More of the account's credit, as the request's hold was taken. */
  more: (need: CreditDemand) => Hold | Promise<Hold>
  onError: (error: unknown) => void
}

/** Tokens by which a hold grows at least, so that a long answer asks a few times only. */
const leastStep = 512
/** Less than that is not worth going on. */
const leastGrant = 16

/** The output that a running stream's hold pays for; it grows as the stream does. */
export class Allowance {
  readonly #options: Options
  #tokens: number
  #isAsking = false

  constructor(options: Options) {
    this.#options = options
    this.#tokens = options.tokens
  }

  /** Tokens of output, in all answers of the stream. */
  get tokens(): number {
    return this.#tokens
  }

  /** Tokens beyond those it began with. */
  get gained(): number {
    return this.#tokens - this.#options.tokens
  }

  /**
   * Holds for more, out of the slice in memory if that has enough. False, or a promise of it, where
   * nothing more may be written or paid. Never throws or rejects. One call at a time.
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

  /** False where the request has ended meanwhile, or its lease was replaced: it ends on the old one. */
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
