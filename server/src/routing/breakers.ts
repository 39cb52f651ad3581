import type { Candidate } from './candidate'
import { AccountBreaker, RouteBreaker, type BreakerFailure } from './route-breaker'

interface Options {
  /** Milliseconds, by a clock that never goes back. */
  now: () => number
  /** The longest that a failing candidate is passed over, in milliseconds; 0 for never. */
  maxOpenMs: number
  /** A candidate is passed over from now on, or is served again. */
  onChange: (change: BreakerChange) => void
  /** How many accounts in trouble are remembered, each on each route; and how many of one account. */
  maxAccounts?: number
  maxPerAccount?: number
}

/** A breaker that opened or closed. */
export interface BreakerChange {
  candidate: Candidate
  /** The account it holds for; null where it holds for all. */
  accountId: string | null
  isOpen: boolean
  /** How long it is open; 0 when it was closed. */
  openMs: number
}

/** How a candidate in trouble fares. */
export interface FailingCandidate {
  candidate: Candidate
  /** Failures of all accounts since the last attempt that was answered. */
  inARow: number
  /** It is passed over by all, or has to show that it works again. */
  isOpen: boolean
  /** How long all pass it over still, in milliseconds. */
  waitMs: number
  /** Accounts whose own breaker is open. */
  openAccounts: number
}

/** An attempt at a candidate, from its begin to its end. */
export interface BreakerAttempt {
  readonly candidate: Candidate
  readonly accountId: string
  readonly since: number
  /** It was made although the candidate is failing, as there was no other. */
  readonly isLast: boolean
}

const anyFailure: BreakerFailure = { busyMs: 0, isShared: true }

const defaultMaxAccounts = 16_384
const defaultMaxPerAccount = 256
/** Accounts of a route that have not failed count in its share, up to this many accounts. */
const maxCountedAccounts = 128

/**
 * Circuit breakers: which candidates are failing, and for which accounts. A route is a model on a
 * connection. Each account has a breaker of its own on each route: requests that fail by what they ask
 * for shut out nobody but their account. The route's own breaker, for all, opens by the share of
 * failures among at least three accounts. Only routes in trouble take memory.
 *
 * Closed: all may pass. Open: none, for a while. Half-open: one attempt of each account, until one is
 * answered (closed) or, for the route's, those of three accounts fail (open, for twice as long).
 */
export class Breakers {
  readonly #options: Options
  /** By connection, then by model: no key is built to look one up. */
  readonly #routes = new Map<string, Map<string, RouteBreaker>>()
  readonly #accounts = new Map<string, Set<AccountBreaker>>()
  #routeCount = 0
  #accountCount = 0

  constructor(options: Options) {
    this.#options = options
  }

  /** How many routes are remembered. */
  get size(): number {
    return this.#routeCount
  }

  /** How many accounts are remembered, each on each route. */
  get accountCount(): number {
    return this.#accountCount
  }

  /** Whether nothing is known against a candidate. */
  isClosed(candidate: Candidate, accountId: string): boolean {
    const route = this.#find(candidate)
    return !route || (!route.isOpen && route.accounts.get(accountId)?.isOpen !== true)
  }

  /** How long an account passes a candidate over, in milliseconds; 0 where it may be tried. */
  waitMs(candidate: Candidate, accountId: string): number {
    return this.#find(candidate)?.waitMs(accountId, this.#options.now()) ?? 0
  }

  /** All routes that are remembered. */
  list(): FailingCandidate[] {
    const now = this.#options.now()
    const routes = [...this.#routes.values()].flatMap((models) => [...models.values()])
    return routes.map((route) => ({
      candidate: route.candidate,
      inARow: route.inARow,
      isOpen: route.isOpen,
      waitMs: route.leftMs(now),
      openAccounts: [...route.accounts.values()].filter(({ isOpen }) => isOpen).length,
    }))
  }

  /** An attempt begins that may be made. */
  begin(candidate: Candidate, accountId: string, isLast = false): BreakerAttempt {
    const since = this.#options.now()
    const route = this.#find(candidate)
    if (route) {
      const known = route.accounts.get(accountId)
      const own = known ?? (route.isOpen || isLast ? this.#add(route, accountId) : undefined)
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

  /** It answered. */
  succeeded(attempt: BreakerAttempt): void {
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
    const known = route.accounts.get(accountId)
    if (!known && route.accounts.size >= maxCountedAccounts) return
    const own = known ?? this.#add(route, accountId)
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

  /** It failed, by no fault that is known to be the request's. */
  failed(attempt: BreakerAttempt, failure: BreakerFailure = anyFailure): void {
    const { maxOpenMs: maxMs, now: readClock, onChange } = this.#options
    if (maxMs === 0) return
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

  /** An attempt ended without showing anything, as where its caller left. */
  left(attempt: BreakerAttempt): void {
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

  /** The same, in a window that is not over; undefined where it is not remembered any more. */
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

  /** The oldest of the same account go first, then the oldest of all: what fails is soon noticed again. */
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
