import { InsufficientCredit, type CreditDemand } from '../ledger/credit-demand'
import type { Hold } from '../ledger/local-lease'
import { chain, rescue, type MaybePromise } from '../platform/maybe-promise'
import type { Budget } from './budget'
import { roundUp } from './cost'

interface Options {
  hold: Hold
  /** The output that the hold pays for, and the most that it may be extended to. */
  tokens: number
  maxTokens: number
  /** Millionths of a nano-dollar per token of output; above zero. */
  rate: bigint
  /** Holds more of the account's credit, as the request's first hold was taken. */
  extendHold: (need: CreditDemand) => MaybePromise<Hold>
  /** The budgets in tokens; undefined for none. */
  budget?: Budget | undefined
  onError: (error: unknown) => void
}

/** The least number of tokens by which a hold grows, so that a long answer extends it a few times only. */
const minStep = 512
/** A smaller grant is not worth continuing the answer. */
const minGrant = 16

/** The output that a running stream's hold pays for; it grows with the stream. */
export class Allowance {
  readonly #options: Options
  #tokens: number
  #isExtending = false

  constructor(options: Options) {
    this.#options = options
    this.#tokens = options.tokens
  }

  /** The tokens of output, in all answers of the stream. */
  get tokens(): number {
    return this.#tokens
  }

  /** The tokens beyond the initial ones. */
  get gainedTokens(): number {
    return this.#tokens - this.#options.tokens
  }

  /**
   * Extends the hold, out of the lease in memory if that has enough. Returns false, or a promise of it, where the
   * limit or the account allows no more. Never throws or rejects. One call at a time.
   */
  extend(): MaybePromise<boolean> {
    const { maxTokens, budget } = this.#options
    const step = Math.min(Math.max(minStep, this.#tokens >> 2), maxTokens - this.#tokens)
    if (step <= 0 || this.#isExtending) return false
    this.#isExtending = true
    const extending = rescue(
      () => (budget ? this.#extendWithin(budget, step) : this.#extend(step)),
      (error) => this.#refuse(error),
    )
    return chain(extending, (isExtended) => {
      this.#isExtending = false
      return isExtended
    })
  }

  #extend(step: number): MaybePromise<boolean> {
    const full = this.#priceOf(step)
    const floor = this.#priceOf(Math.min(step, minGrant))
    const extending = this.#options.extendHold({ full, floor, minimum: 0n })
    return chain(extending, (hold) => this.#take(hold, step))
  }

  /** Extends it by what budgets in tokens allow, which get back what is not gained. */
  #extendWithin(budget: Budget, step: number): MaybePromise<boolean> {
    const floor = BigInt(Math.min(step, minGrant))
    return chain(budget.extend({ full: BigInt(step), floor }), (heldTokens) => {
      if (typeof heldTokens !== 'bigint') return false
      const before = this.#tokens
      const giveBack = () => budget.add(BigInt(this.#tokens - before) - heldTokens)
      return chain(
        rescue(
          () => this.#extend(Number(heldTokens)),
          (error) => this.#refuse(error),
        ),
        (isExtended) => {
          giveBack()
          return isExtended
        },
      )
    })
  }

  #priceOf(tokens: number): bigint {
    return roundUp(BigInt(tokens) * this.#options.rate)
  }

  /** Returns false where the request has ended meanwhile, or its lease was replaced: it ends on the old one. */
  #take(extension: Hold, step: number): boolean {
    const { hold, rate } = this.#options
    const { amount } = extension
    if (!hold.absorb(extension)) {
      extension.settle(0n)
      return false
    }
    const paidTokens = (amount * 1_000_000n) / rate
    this.#tokens += paidTokens < BigInt(step) ? Number(paidTokens) : step
    return true
  }

  #refuse(error: unknown): false {
    if (!(error instanceof InsufficientCredit)) this.#options.onError(error)
    return false
  }
}
