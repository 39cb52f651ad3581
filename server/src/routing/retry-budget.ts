import type { Candidate } from './candidate'

/** Requests that earn one further attempt: 20 % of all. Source: contract 10.2. */
const requestsEach = 5
/** Further attempts that are there from the start, and that at most can be saved up. */
export const maxSaved = 50
/** Those of them that one account has at most: as many are left for all others. */
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
 * How many further attempts there may be: one for every five requests, and a few at once. A bucket for
 * each provider and owner of a connection: where one of them fails, it uses up what the requests to it
 * have earned, and neither another provider's requests nor another customer's pay for that; together
 * they keep to the share that each keeps to. Within it each account spends what its own requests have
 * earned, so that one whose requests fail leaves the others theirs. A bucket that is full takes no memory.
 */
export class RetryBudget {
  readonly #buckets = new Map<string, Bucket>()

  /** How many buckets are not full. */
  get size(): number {
    return this.#buckets.size
  }

  /** A request is put to its first candidate. */
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

  /** Whether another could be asked for an account if this candidate fails. */
  has(candidate: Candidate, accountId: string): boolean {
    const bucket = this.#buckets.get(keyOf(candidate))
    if (!bucket) return true
    const own = bucket.accounts.get(accountId) ?? fullOfAccount
    return bucket.saved >= requestsEach && own >= requestsEach
  }

  /** After a candidate failed another is to be asked. False where there were too many already. */
  spend(failed: Candidate, accountId: string): boolean {
    if (!this.has(failed, accountId)) return false
    const key = keyOf(failed)
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
