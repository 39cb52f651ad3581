import type { ScaleProfile } from './profile'
import { Random } from '../random'
import type { CallerLimits } from '../../src/limits/caller-limits'

const usd = 1e9

/** The mean of what requests cost. Nano-dollars. */
export const meanCost = 0.0036 * usd
/** A balance: an amount of its own, and the account's spending of a time. */
const balance = { min: 0.08 * usd, max: 20 * usd, cap: 5000 * usd }
const spendingMs = { min: 3_600_000, max: 30 * 86_400_000 }
/** Of some accounts the balance is nearly used up; of the busiest ones it is not, as they would decide the figures alone. */
const lowShare = 0.05
const lowBalance = { min: 0.01 * usd, max: 0.2 * usd }
const lowSpendingMs = { min: 10_000, max: 600_000 }
const busiest = 10

/** Requests per minute of the plans; tokens and places follow from them. */
const plans = [60, 600, 6000, 60_000] as const
const tokensEach = 2000
const placesEach = 1 / 6
const minPlaces = 10
/** An account's plan allows at least so many times its mean rate. */
const headroom = 2
/** The share of accounts whose plan is one too small for them. */
const limitedShare = 0.02

export const limitKinds = ['requests', 'places', 'tokens'] as const
export type LimitKind = (typeof limitKinds)[number]

/**
 * Accounts whose rates follow Zipf's law with exponent 1: the account of rank n sends a share of 1/n. Each has a home region,
 * a balance and a plan.
 */
export class Population {
  readonly size: number
  readonly #ids: string[] = []
  /** The sums of the shares up to each account. */
  readonly #sums: Float64Array
  readonly #homes: Uint8Array
  readonly #plans: Uint8Array
  readonly balances: Float64Array
  readonly #perSecond: number

  constructor({ seed, accounts, regions, requestsPerSecond }: ScaleProfile) {
    const random = new Random(seed)
    this.size = accounts
    this.#perSecond = requestsPerSecond
    this.#sums = new Float64Array(accounts)
    this.#homes = new Uint8Array(accounts)
    this.#plans = new Uint8Array(accounts)
    this.balances = new Float64Array(accounts)
    let sum = 0
    for (let at = 0; at < accounts; at++) this.#sums[at] = sum += 1 / (at + 1)
    for (let at = 0; at < accounts; at++) {
      this.#ids.push(`account-${at}`)
      this.#homes[at] = random.integer(0, regions - 1)
      const rate = this.rateOf(at)
      const isLow = at >= busiest && random.chance(lowShare)
      this.balances[at] = Math.round(isLow ? drawLow(rate, random) : drawBalance(rate, random))
      this.#plans[at] = drawPlan(rate, random)
    }
  }

  /** The mean rate of an account in requests per second. */
  rateOf(account: number): number {
    return this.#perSecond / (account + 1) / (this.#sums[this.size - 1] ?? 1)
  }

  idOf(account: number): string {
    return this.#ids[account] ?? ''
  }

  homeOf(account: number): number {
    return this.#homes[account] ?? 0
  }

  limitOf(account: number, kind: LimitKind): number {
    const perMinute = plans[this.#plans[account] ?? 0] ?? plans[0]
    if (kind === 'requests') return perMinute
    if (kind === 'tokens') return perMinute * tokensEach
    return Math.max(minPlaces, Math.floor(perMinute * placesEach))
  }

  limitsOf(account: number): CallerLimits {
    const bucket = (kind: LimitKind) => [
      { id: `${kind}:${this.idOf(account)}`, limit: this.limitOf(account, kind) },
    ]
    return {
      requests: bucket('requests'),
      tokens: bucket('tokens'),
      images: [],
      audioSeconds: [],
      running: bucket('places'),
      windows: [],
      filtered: [],
      budgetTags: [],
    }
  }

  /** Draws the account of the next request. */
  draw(random: Random): number {
    const share = random.next() * (this.#sums[this.size - 1] ?? 0)
    let low = 0
    let high = this.size - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#sums[middle] ?? 0) < share) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** The spending of an account of a rate in a millisecond, in nano-dollars. */
const spendingOf = (rate: number) => (rate * meanCost) / 1000

function drawBalance(rate: number, random: Random): number {
  const own = random.logarithmic(balance.min, balance.max)
  const spending = spendingOf(rate) * random.logarithmic(spendingMs.min, spendingMs.max)
  return Math.min(balance.cap, own + spending)
}

function drawLow(rate: number, random: Random): number {
  const own = random.logarithmic(lowBalance.min, lowBalance.max)
  return own + spendingOf(rate) * random.logarithmic(lowSpendingMs.min, lowSpendingMs.max)
}

function drawPlan(rate: number, random: Random): number {
  const fitting = plans.findIndex((perMinute) => perMinute >= headroom * 60 * rate)
  const plan = fitting < 0 ? plans.length - 1 : fitting
  return random.chance(limitedShare) ? Math.max(0, plan - 1) : plan
}
