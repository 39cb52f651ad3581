import type { Settled } from '../ledger/local-lease'
import { costToCaller, type UsageEvent } from '../ledger/usage-event'
import type { Usage, TokenCounts } from '../wire/usage'

/** The tokens of an attempt that has not ended, or was not answered. */
export const noTokens: TokenCounts = {
  input: 0,
  cachedInput: 0,
  cacheWrite: 0,
  output: 0,
  reasoning: 0,
  audioInput: 0,
  audioOutput: 0,
  cacheWriteLong: 0,
  imageInput: 0,
  imageOutput: 0,
  searches: 0,
}

interface AttemptResult {
  outcome: string
  used: Usage | undefined
  cost: bigint
  /** Undefined for an attempt without a reservation. */
  price: bigint | undefined
  settled: Settled | undefined
}

/** Fills in the end of a request's last attempt; returns the cost that its caller sees. */
export function endAttempt(event: UsageEvent, ended: AttemptResult): bigint {
  const { outcome, used, cost, price, settled } = ended
  event.outcome = outcome
  event.cost = cost
  event.price = (isCounted(event) ? price : undefined) ?? null
  if (used) {
    event.tokens = used
    event.estimated = used.estimated
  }
  if (settled) {
    event.leaseId = settled.leaseId
    event.fromLease = settled.fromLease
  }
  return costToCaller(event)
}

/** Returns whether the price counts, though it is not charged. */
const isCounted = ({ billingMode: mode }: UsageEvent) => mode === 'org_pays' || mode === 'house'
