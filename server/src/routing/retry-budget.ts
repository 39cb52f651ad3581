import type { Candidate } from './candidate'

/** Requests that earn one further attempt: 20 % of all. Source: api.md 21.1. */
const requestsEach = 5
/** Further attempts that are there from the start, and that at most can be saved up. */
export const mostSaved = 50
const most = mostSaved * requestsEach
const mostKnown = 4096

/**
 * How many further attempts there may be: one for every five requests, and a few at once. A bucket for
 * each provider and owner of a connection: where one of them fails, it uses up what the requests to it
 * have earned, and neither another provider's requests nor another customer's pay for that; together
 * they keep to the share that each keeps to. A bucket that is full takes no memory.
 */
export class RetryBudget {
  readonly #saved = new Map<string, number>()

  /** How many buckets are not full. */
  get size(): number {
    return this.#saved.size
  }

  /** A request is put to its first candidate. */
  earn(candidate: Candidate): void {
    if (this.#saved.size === 0) return
    const key = keyOf(candidate)
    const saved = this.#saved.get(key)
    if (saved === undefined) return
    if (saved + 1 < most) this.#saved.set(key, saved + 1)
    else this.#saved.delete(key)
  }

  /** Whether another could be asked if this candidate fails. */
  has(candidate: Candidate): boolean {
    return (this.#saved.get(keyOf(candidate)) ?? most) >= requestsEach
  }

  /** After a candidate failed another is to be asked. False where there were too many already. */
  spend(failed: Candidate): boolean {
    if (!this.has(failed)) return false
    const key = keyOf(failed)
    const saved = this.#saved.get(key)
    if (saved === undefined && this.#saved.size >= mostKnown) {
      const [oldest] = this.#saved.keys()
      if (oldest !== undefined) this.#saved.delete(oldest)
    }
    this.#saved.set(key, (saved ?? most) - requestsEach)
    return true
  }
}

const keyOf = ({ provider, connection: { owner } }: Candidate): string =>
  owner === null ? provider.key : `${provider.key} ${owner}`
