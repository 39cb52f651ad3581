import type { Candidate } from './candidate'

/** Requests that earn one further attempt: 20 % of all. Source: contract 10.2. */
const requestsEach = 5
/** The further attempts that are available from the start, which is also the maximum. */
export const maxSaved = 50
/** The maximum of them that one account has: as many are left for all others. */
export const maxSavedOfAccount = maxSaved / 2
const full = maxSaved * requestsEach
const fullOfAccount = maxSavedOfAccount * requestsEach
const maxKnown = 4096
const maxAccounts = 1024

/** Attempts that are saved up, in requests. */
interface Bucket {
  saved: number
  /** Of the accounts that have not saved up all that they may. */
  accounts: Map<string, number>
}

/**
 * The retry budget: one further attempt for every five requests, and a few at once. A bucket for each provider and
 * owner of a connection: where one of them fails, it uses up the attempts that the requests to it have earned, and
 * neither another provider's requests nor another customer's pay for that; together they keep to the share that each
 * keeps to. Within it each account spends the attempts that its own requests have earned, so that one whose requests
 * fail leaves the others theirs. A bucket that is full takes no memory.
 */
export class RetryBudget {
  readonly #buckets = new Map<string, Bucket>()

  /** The number of buckets that are not full. */
  get size(): number {
    return this.#buckets.size
  }

  /** A request goes to its first candidate. */
  earn(candidate: Candidate, accountId: string): void {
    if (this.#buckets.size === 0) return
    const key = keyOf(candidate)
    const bucket = this.#buckets.get(key)
    if (!bucket) return
    bucket.saved = Math.min(full, bucket.saved + 1)
    const own = bucket.accounts.get(accountId)
    if (own !== undefined) {
      if (own + 1 < fullOfAccount) bucket.accounts.set(accountId, own + 1)
      else bucket.accounts.delete(accountId)
    }
    if (bucket.saved === full && bucket.accounts.size === 0) this.#buckets.delete(key)
  }

  /** Whether a failover from this candidate would be within an account's budget. */
  has(candidate: Candidate, accountId: string): boolean {
    const bucket = this.#buckets.get(keyOf(candidate))
    if (!bucket) return true
    const own = bucket.accounts.get(accountId) ?? fullOfAccount
    return bucket.saved >= requestsEach && own >= requestsEach
  }

  /** Spends a further attempt after a candidate's failure. False where the budget is used up. */
  spend(failedCandidate: Candidate, accountId: string): boolean {
    if (!this.has(failedCandidate, accountId)) return false
    const key = keyOf(failedCandidate)
    let bucket = this.#buckets.get(key)
    if (!bucket) {
      dropOldest(this.#buckets, maxKnown)
      this.#buckets.set(key, (bucket = { saved: full, accounts: new Map() }))
    }
    bucket.saved -= requestsEach
    const own = bucket.accounts.get(accountId)
    if (own === undefined) dropOldest(bucket.accounts, maxAccounts)
    bucket.accounts.set(accountId, (own ?? fullOfAccount) - requestsEach)
    return true
  }
}

function dropOldest(map: Map<string, unknown>, max: number): void {
  if (map.size < max) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}

const keyOf = ({ provider, connection: { owner } }: Candidate): string =>
  owner === null ? provider.key : `${provider.key} ${owner}`
