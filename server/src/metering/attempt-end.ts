import type { Settled } from '../ledger/slice'
import type { TokenCounts, UsageEvent } from '../ledger/usage-event'
import type { Usage } from '../wire/usage'

/** Of an attempt that has not ended, or was not answered. */
export const noTokens: TokenCounts = {
  input: 0,
  cachedInput: 0,
  cacheWrite: 0,
  output: 0,
  reasoning: 0,
  audioInput: 0,
  audioOutput: 0,
}

interface Ended {
  outcome: string
  used: Usage | undefined
  cost: bigint
  price: bigint | null
  settled: Settled | undefined
}

/** Fills in how the last attempt of a request ended. */
export function endAttempt(event: UsageEvent, ended: Ended): void {
  const { outcome, used, cost, price, settled } = ended
  event.outcome = outcome
  event.cost = cost
  event.price = price
  if (used) {
    event.tokens = used
    event.estimated = used.estimated
  }
  if (settled) {
    event.leaseId = settled.leaseId
    event.fromLease = settled.fromLease
  }
}
