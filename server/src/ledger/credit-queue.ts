import type { CreditDemand } from './credit-demand'
import { maxAmount } from './credit-demand'
import type { Hold } from './local-lease'

interface Waiting {
  need: CreditDemand
  sinceMs: number
  /** Set once the ledger, and through it every other node, was queried after the request arrived. */
  isQueried: boolean
  resolve: (hold: Hold) => void
  reject: (error: unknown) => void
}

const maxWaiting = 10_000
/**
 * A request waits for so long while the database answers but the account cannot be changed: longer where the
 * database is far.
 */
const maxWaitMs = 30_000
const maxWaitRoundTrips = 20

/** Requests that wait for credit of one account, first come first served. */
export class CreditQueue {
  readonly #waiting: Waiting[] = []

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  /** The credit that all of them need, in nano-dollars. */
  get full(): bigint {
    return this.#waiting.reduce((sum, { need }) => sum + need.full, 0n)
  }

  /** The largest of their needs. */
  get largest(): bigint {
    return this.#waiting.map(({ need }) => need.full).reduce(maxAmount, 0n)
  }

  /** Throws where too many wait already. */
  add(need: CreditDemand, nowMs: number): Promise<Hold> {
    if (this.#waiting.length >= maxWaiting) throw new Error('too many requests wait for credit')
    return new Promise((resolve, reject) => {
      this.#waiting.push({ need, sinceMs: nowMs, isQueried: false, resolve, reject })
    })
  }

  /** Serves requests from the head on, up to the first that gets no hold. */
  serve(holdFor: (need: CreditDemand) => Hold | undefined): void {
    let servedCount = 0
    for (const { need, resolve } of this.#waiting) {
      const hold = holdFor(need)
      if (!hold) break
      resolve(hold)
      servedCount++
    }
    this.#waiting.splice(0, servedCount)
  }

  /** Rejects requests for which `reasonFor` returns a reason. */
  rejectWhere(reasonFor: (need: CreditDemand) => unknown): void {
    for (let at = this.#waiting.length - 1; at >= 0; at--) {
      const one = this.#waiting[at]
      const reason = one && reasonFor(one.need)
      if (reason === undefined) continue
      one?.reject(reason)
      this.#waiting.splice(at, 1)
    }
  }

  /** Marks all requests that wait now: the ledger is about to be queried, and reclaims the credit of other nodes. */
  markQueried(): void {
    for (const one of this.#waiting) one.isQueried = true
  }

  /** Ends the marked requests: each with its hold, or with what `holdFor` throws. */
  settleQueried(holdFor: (need: CreditDemand) => Hold): void {
    const all = this.#waiting.splice(0)
    this.#waiting.push(...all.filter(({ isQueried }) => !isQueried))
    for (const { need, isQueried, resolve, reject } of all) {
      if (!isQueried) continue
      try {
        resolve(holdFor(need))
      } catch (thrown) {
        reject(thrown)
      }
    }
  }

  rejectAll(cause: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(cause)
  }

  /** Rejects requests that have waited too long. */
  rejectOld(cause: unknown, nowMs: number, roundTripMs: number): void {
    const maxMs = maxWaitMs + maxWaitRoundTrips * roundTripMs
    const old = this.#waiting.findIndex(({ sinceMs }) => nowMs - sinceMs < maxMs)
    const count = old < 0 ? this.#waiting.length : old
    for (const { reject } of this.#waiting.splice(0, count)) reject(cause)
  }
}
