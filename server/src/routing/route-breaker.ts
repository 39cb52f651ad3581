import type { Candidate } from './candidate'

/** Milliseconds in which attempts and failures are counted together. */
const windowMs = 10_000
/** Failures in a row that open the breaker of an account, however long that takes. */
const maxInARow = 5
/** Failures within a window that open it where they are half of its attempts. */
const minFailures = 10
/** Attempts within a window, weighed by account, below which the breaker for all stays closed. */
const minAttempts = 20
/** Accounts that must have failed within a window before the breaker for all opens. */
const minFailingAccounts = 3
/** Attempts that one account counts for at most: a quarter of those that are needed. */
const maxWeight = minAttempts / 4
/** Probes that may run at the same time, one of each account. */
const maxProbes = 8
/** A probe that has not ended after so long does not delay others. */
const probeMs = 10_000
/** The first time a breaker is open for a sixth of the longest time, then twice as long each time. */
const firstPart = 6
/** Attempts at a route that is failing, where an account has no other: saved up, and a second. */
const maxLastTokens = 10
const lastTokensPerMs = 1 / 1000
const maxLastRunning = 10
const maxLastRunningOfAll = 100

/** A failure of an attempt. */
export interface BreakerFailure {
  /** The busy time that the provider announced, in milliseconds; 0 for none. */
  busyMs: number
  /** It shows a fault of the provider, not only of this account's requests. */
  isShared: boolean
  /** The longest time for which it opens a breaker, where that is longer than for others, in milliseconds. */
  maxOpenMs?: number
}

/** A failure of the provider, which several accounts see, without an announced busy time. */
export const sharedFailure: BreakerFailure = { busyMs: 0, isShared: true }

/** A breaker: closed, open until a time, or half-open after it. */
class Switch {
  /** Undefined while it is closed. */
  opensUntil: number | undefined
  /** The duration of its last open state. */
  openMs = 0
  /** Attempts that began before show nothing any more. */
  changedAt = -Infinity

  get isOpen(): boolean {
    return this.opensUntil !== undefined
  }

  /** Open, and not yet half-open. */
  isBarred(now: number): boolean {
    return this.opensUntil !== undefined && now < this.opensUntil
  }

  open(now: number, busyMs: number, maxMs: number): void {
    const nextMs = this.openMs === 0 ? maxMs / firstPart : 2 * this.openMs
    this.openMs = Math.min(maxMs, busyMs > 0 ? busyMs : nextMs)
    this.opensUntil = now + this.openMs
    this.changedAt = now
  }

  close(now: number): void {
    this.opensUntil = undefined
    this.openMs = 0
    this.changedAt = now
  }
}

/** The results of one account's requests on one route, and the account's own breaker there. */
export class AccountBreaker extends Switch {
  readonly accountId: string
  readonly route: RouteBreaker
  inARow = 0
  /** In this window. */
  attempts = 0
  failures = 0
  /** Those of them that show a fault of the provider. */
  sharedAttempts = 0
  sharedFailures = 0
  /** Until then a probe of this account runs. */
  probesUntil = -Infinity
  isProbing = false
  probeFailedAt = -Infinity
  lastTokens = maxLastTokens
  lastTokensAt = 0
  lastRunning = 0

  constructor(accountId: string, route: RouteBreaker) {
    super()
    this.accountId = accountId
    this.route = route
  }

  /** Whether nothing of it has to be kept for the next window. */
  get isIdle(): boolean {
    return this.inARow === 0 && !this.isOpen && !this.isProbing && this.lastRunning === 0
  }

  /** Whether the counted failure opens it. One that is open stays as it is until a probe. */
  opensNow(now: number, { busyMs }: BreakerFailure): boolean {
    if (this.isOpen) return !this.isBarred(now)
    const isMany = this.failures >= minFailures && 2 * this.failures >= this.attempts
    return isMany || this.inARow >= maxInARow || busyMs > 0 || this.route.isOpen
  }

  startWindow(): void {
    this.attempts = 0
    this.failures = 0
    this.sharedAttempts = 0
    this.sharedFailures = 0
  }

  endProbe(): void {
    this.probesUntil = -Infinity
    if (!this.isProbing) return
    this.isProbing = false
    this.route.probes -= 1
  }
}

/**
 * One model on one connection while any account fails there, and the breaker that holds for all.
 * Each account counts for the same few attempts at most, so that no account decides by itself.
 */
export class RouteBreaker extends Switch {
  readonly candidate: Candidate
  readonly accounts = new Map<string, AccountBreaker>()
  /** Failures of all accounts since the last attempt that was answered. */
  inARow = 0
  probes = 0
  lastRunning = 0
  #windowEndsAt: number
  /** Weighed by account. */
  #attempts = 0
  #failures = 0
  #failingAccounts = 0
  /** The account whose failure opened it: the probe is another's. */
  #opener: string | undefined
  #probesUntil = -Infinity
  /** Accounts whose probe has failed since it is half-open. */
  #failedProbes = 0

  constructor(candidate: Candidate, now: number) {
    super()
    this.candidate = candidate
    this.#windowEndsAt = now + windowMs
  }

  /** The time for which an account skips it, in milliseconds; 0 where it may try. */
  waitMs(accountId: string, now: number): number {
    const own = this.accounts.get(accountId)
    let until = own?.opensUntil ?? -Infinity
    if (this.opensUntil !== undefined) {
      const isOpener = accountId === this.#opener
      until = Math.max(until, isOpener ? this.opensUntil + this.openMs : this.opensUntil)
      if (this.probes >= maxProbes) until = Math.max(until, this.#probesUntil)
    }
    if (own) until = Math.max(until, own.probesUntil)
    return Math.max(0, until - now)
  }

  /** The time for which the breaker for all is still open, in milliseconds. */
  remainingMs(now: number): number {
    return Math.max(0, (this.opensUntil ?? -Infinity) - now)
  }

  /** An account's attempt begins; where a breaker is open it is a probe. */
  begin(own: AccountBreaker, now: number): void {
    if (!this.isOpen && !own.isOpen) return
    own.probesUntil = now + probeMs
    if (!this.isOpen) return
    this.#probesUntil = now + probeMs
    if (own.isProbing) return
    own.isProbing = true
    this.probes += 1
  }

  /** Begins another window where one is over. Returns the accounts that need not be kept. */
  startWindow(now: number): AccountBreaker[] | undefined {
    if (now < this.#windowEndsAt) return undefined
    this.#windowEndsAt = now + windowMs
    this.#clearWindow()
    return [...this.accounts.values()].filter(({ isIdle }) => isIdle)
  }

  #clearWindow(): void {
    this.#attempts = 0
    this.#failures = 0
    this.#failingAccounts = 0
    for (const own of this.accounts.values()) own.startWindow()
  }

  /** Counts an attempt of an account. */
  count(own: AccountBreaker, isFailure: boolean): void {
    this.#weigh(own, -1)
    own.sharedAttempts += 1
    if (isFailure) own.sharedFailures += 1
    this.#weigh(own, 1)
  }

  /** Removes an account, and its part in the counts. */
  remove(own: AccountBreaker): void {
    own.endProbe()
    this.#weigh(own, -1)
    this.accounts.delete(own.accountId)
  }

  #weigh({ sharedAttempts, sharedFailures }: AccountBreaker, sign: 1 | -1): void {
    if (sharedAttempts === 0) return
    const weight = Math.min(sharedAttempts, maxWeight)
    this.#attempts += sign * weight
    if (sharedFailures === 0) return
    this.#failures += (sign * weight * sharedFailures) / sharedAttempts
    this.#failingAccounts += sign
  }

  /** Whether an account's failure, which was counted, opens it for all, for the first time or again. */
  opensNow(own: AccountBreaker, now: number): boolean {
    if (!this.isOpen) {
      const isMany = this.#attempts >= minAttempts && this.#failingAccounts >= minFailingAccounts
      // The sum of the accounts' shares is a sum of fractions.
      return isMany && 2 * this.#failures >= this.#attempts - 1e-6
    }
    if (this.isBarred(now) || own.probeFailedAt >= this.changedAt) return false
    own.probeFailedAt = now
    this.#failedProbes += 1
    return this.#failedProbes >= minFailingAccounts
  }

  openBy(own: AccountBreaker, now: number, opening: { busyMs: number; maxMs: number }): void {
    this.open(now, opening.busyMs, opening.maxMs)
    this.#opener = own.accountId
    this.#failedProbes = 0
  }

  /** An account was answered: all others may probe at once. */
  override close(now: number): void {
    super.close(now)
    this.#opener = undefined
    this.#failedProbes = 0
    this.#clearWindow()
    for (const own of this.accounts.values()) {
      own.endProbe()
      if (own.opensUntil !== undefined) own.opensUntil = Math.min(own.opensUntil, now)
    }
  }

  /** Whether an account that has no other route may try this one although it is failing. */
  allowsLast(own: AccountBreaker, now: number): boolean {
    own.lastTokens = Math.min(
      maxLastTokens,
      own.lastTokens + (now - own.lastTokensAt) * lastTokensPerMs,
    )
    own.lastTokensAt = now
    if (own.lastTokens < 1 || own.lastRunning >= maxLastRunning) return false
    return this.lastRunning < maxLastRunningOfAll
  }

  beginLast(own: AccountBreaker): void {
    own.lastTokens -= 1
    own.lastRunning += 1
    this.lastRunning += 1
  }

  endLast(own: AccountBreaker | undefined): void {
    this.lastRunning = Math.max(0, this.lastRunning - 1)
    if (own) own.lastRunning = Math.max(0, own.lastRunning - 1)
  }
}
