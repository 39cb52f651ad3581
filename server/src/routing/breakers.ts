import type { Candidate } from './candidate'
import { AccountBreaker, RouteBreaker, type BreakerFailure, sharedFailure } from './route-breaker'

interface Options {
  /** Milliseconds, by a clock that never goes back. */
  now: () => number
  /** The maximum time that a failing candidate is skipped, in milliseconds; 0 for never. */
  maxOpenMs: number
  /** A candidate is skipped from now on, or is served again. */
  onChange: (change: BreakerChange) => void
  /** The maximum number of failing accounts that are kept, each on each route; and of those of one account. */
  maxAccounts?: number
  maxPerAccount?: number
}

/** A breaker that opened or closed. */
export interface BreakerChange {
  candidate: Candidate
  /** The account whose breaker it is; null for the breaker of all accounts. */
  accountId: string | null
  isOpen: boolean
  /** The time for which it is open; 0 when it was closed. */
  openMs: number
}

/** State of a failing candidate. */
export interface FailingCandidate {
  candidate: Candidate
  /** Failures of all accounts since the last attempt that was answered. */
  inARow: number
  /** All accounts skip it, or it has to pass a probe. */
  isOpen: boolean
  /** The time for which all accounts still skip it, in milliseconds. */
  waitMs: number
  /** Accounts whose own breaker is open. */
  openAccounts: number
}

/** An attempt at a candidate, from its start to its end. */
export interface BreakerAttempt {
  readonly candidate: Candidate
  readonly accountId: string
  readonly since: number
  /** It was made although the candidate is failing, as there was no other. */
  readonly isLast: boolean
}

const defaultMaxAccounts = 16_384
const defaultMaxPerAccount = 256
/** Accounts of a route that have not failed count in its share, up to this many accounts. */
const maxCountedAccounts = 128

/**
 * Circuit breakers: which candidates are failing, and for which accounts. A route is a model on a connection. Each
 * account has a breaker of its own on each route: requests that fail by their content block only their own account.
 * The route's own breaker, for all, opens by the share of failures among at least three accounts. Only routes in
 * trouble take memory.
 *
 * Closed: all may pass. Open: none, for a while. Half-open: one attempt of each account, until one is answered
 * (closed) or, for the route's, those of three accounts fail (open, for twice as long).
 */
export class Breakers {
  readonly #options: Options
  /** By connection, then by model: a look-up builds no key. */
  readonly #routes = new Map<string, Map<string, RouteBreaker>>()
  readonly #accounts = new Map<string, Set<AccountBreaker>>()
  #routeCount = 0
  #accountCount = 0

  constructor(options: Options) {
    this.#options = options
  }

  /** The number of routes in memory. */
  get size(): number {
    return this.#routeCount
  }

  /** The number of accounts in memory, each on each route. */
  get accountCount(): number {
    return this.#accountCount
  }

  /** Whether no failure of a candidate is recorded. */
  isClosed(candidate: Candidate, accountId: string): boolean {
    const route = this.#find(candidate)
    return !route || (!route.isOpen && route.accounts.get(accountId)?.isOpen !== true)
  }

  /** The time for which an account skips a candidate, in milliseconds; 0 where it may be tried. */
  waitMs(candidate: Candidate, accountId: string): number {
    return this.#find(candidate)?.waitMs(accountId, this.#options.now()) ?? 0
  }

  /** Lists all routes in memory. */
  list(): FailingCandidate[] {
    const now = this.#options.now()
    const routes = [...this.#routes.values()].flatMap((models) => [...models.values()])
    return routes.map((route) => ({
      candidate: route.candidate,
      inARow: route.inARow,
      isOpen: route.isOpen,
      waitMs: route.remainingMs(now),
      openAccounts: [...route.accounts.values()].filter(({ isOpen }) => isOpen).length,
    }))
  }

  /** Starts an attempt that may be made. */
  begin(candidate: Candidate, accountId: string, isLast = false): BreakerAttempt {
    const since = this.#options.now()
    const route = this.#find(candidate)
    if (route) {
      const knownBreaker = route.accounts.get(accountId)
      const own = knownBreaker ?? (route.isOpen || isLast ? this.#add(route, accountId) : undefined)
      if (own) route.begin(own, since)
      if (own && isLast) route.beginLast(own)
    }
    return { candidate, accountId, since, isLast }
  }

  /** Whether an account may try a candidate although it is failing, as it has no other. */
  allowsLast(candidate: Candidate, accountId: string): boolean {
    const route = this.#find(candidate)
    if (!route) return true
    const own = route.accounts.get(accountId) ?? this.#add(route, accountId)
    return route.allowsLast(own, this.#options.now())
  }

  /** The attempt was answered. */
  recordSuccess(attempt: BreakerAttempt): void {
    const { candidate, accountId, since } = attempt
    if (!this.#find(candidate)) return
    this.#end(attempt)
    const now = this.#options.now()
    const route = this.#inWindow(candidate, now)
    if (!route) return
    if (route.isOpen && since >= route.changedAt) {
      route.close(now)
      this.#options.onChange({ candidate, accountId: null, isOpen: false, openMs: 0 })
    }
    route.inARow = 0
    const knownBreaker = route.accounts.get(accountId)
    if (!knownBreaker && route.accounts.size >= maxCountedAccounts) return
    const own = knownBreaker ?? this.#add(route, accountId)
    if (since < own.changedAt) return
    own.inARow = 0
    if (own.isOpen) {
      this.#remove(own)
      this.#options.onChange({ candidate, accountId, isOpen: false, openMs: 0 })
      return
    }
    own.attempts += 1
    route.count(own, false)
  }

  /** The attempt failed, by no known fault of the request. */
  recordFailure(attempt: BreakerAttempt, failure: BreakerFailure = sharedFailure): void {
    const { maxOpenMs, now: readClock, onChange } = this.#options
    if (maxOpenMs === 0) return
    const maxMs = Math.max(maxOpenMs, failure.maxOpenMs ?? 0)
    const { candidate, accountId, since } = attempt
    const now = readClock()
    this.#end(attempt)
    const route = this.#inWindow(candidate, now) ?? this.#addRoute(candidate, now)
    const own = route.accounts.get(accountId) ?? this.#add(route, accountId)
    if (since < own.changedAt) return
    const { busyMs, isShared } = failure
    route.inARow += 1
    own.inARow += 1
    own.attempts += 1
    own.failures += 1
    if (own.opensNow(now, failure)) {
      own.open(now, busyMs, maxMs)
      onChange({ candidate, accountId, isOpen: true, openMs: own.openMs })
    }
    if (!isShared || since < route.changedAt) return
    route.count(own, true)
    if (!route.opensNow(own, now)) return
    route.openBy(own, now, { busyMs, maxMs })
    onChange({ candidate, accountId: null, isOpen: true, openMs: route.openMs })
  }

  /** An attempt ended without a result, as where its client disconnected. */
  abandon(attempt: BreakerAttempt): void {
    if (this.#routeCount > 0) this.#end(attempt)
  }

  #end({ candidate, accountId, since, isLast }: BreakerAttempt): void {
    const route = this.#find(candidate)
    const own = route?.accounts.get(accountId)
    if (isLast) route?.endLast(own)
    if (own && since >= own.changedAt) own.endProbe()
  }

  #find({ connection, model }: Candidate): RouteBreaker | undefined {
    if (this.#routeCount === 0) return undefined
    return this.#routes.get(connection.id)?.get(model.id)
  }

  /** The route, in a current window; undefined where it is not in memory. */
  #inWindow(candidate: Candidate, now: number): RouteBreaker | undefined {
    const route = this.#find(candidate)
    for (const own of route?.startWindow(now) ?? []) this.#remove(own)
    return route && route.accounts.size > 0 ? route : undefined
  }

  #addRoute(candidate: Candidate, now: number): RouteBreaker {
    const { connection, model } = candidate
    let models = this.#routes.get(connection.id)
    if (!models) this.#routes.set(connection.id, (models = new Map()))
    const route = new RouteBreaker(candidate, now)
    models.set(model.id, route)
    this.#routeCount += 1
    return route
  }

  /** Evicts the oldest of the same account first, then the oldest of all: a failure soon shows again. */
  #add(route: RouteBreaker, accountId: string): AccountBreaker {
    const { maxAccounts = defaultMaxAccounts, maxPerAccount = defaultMaxPerAccount } = this.#options
    const own = new AccountBreaker(accountId, route)
    route.accounts.set(accountId, own)
    let all = this.#accounts.get(accountId)
    if (!all) this.#accounts.set(accountId, (all = new Set()))
    all.add(own)
    this.#accountCount += 1
    if (all.size > maxPerAccount) this.#evict(all)
    else if (this.#accountCount > maxAccounts) this.#evict(this.#accounts.values().next().value)
    return own
  }

  #evict(all: ReadonlySet<AccountBreaker> | undefined): void {
    const oldest = all?.values().next().value
    if (oldest) this.#remove(oldest)
  }

  #remove(own: AccountBreaker): void {
    const { route, accountId } = own
    route.remove(own)
    this.#accountCount -= 1
    const all = this.#accounts.get(accountId)
    all?.delete(own)
    if (all?.size === 0) this.#accounts.delete(accountId)
    if (route.accounts.size > 0) return
    const { connection, model } = route.candidate
    const models = this.#routes.get(connection.id)
    if (models?.get(model.id) !== route) return
    models.delete(model.id)
    if (models.size === 0) this.#routes.delete(connection.id)
    this.#routeCount -= 1
  }
}
