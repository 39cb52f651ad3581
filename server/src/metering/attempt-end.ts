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
  usage: Usage | undefined
  cost: bigint
  /** Undefined for an attempt without a reservation. */
  price: bigint | undefined
  settledHold: Settled | undefined
}

/** Fills in the end of a request's last attempt; returns the cost that its caller sees. */
export function endAttempt(event: UsageEvent, result: AttemptResult): bigint {
  const { outcome, usage, cost, price, settledHold } = result
  event.outcome = outcome
  event.cost = cost
  event.price = (isCounted(event) ? price : undefined) ?? null
  if (usage) {
    event.tokens = usage
    event.estimated = usage.estimated
  }
  if (settledHold) {
    event.leaseId = settledHold.leaseId
    event.fromLease = settledHold.fromLease
  }
  return costToCaller(event)
}

/** Returns whether the price counts, though it is not charged. */
const isCounted = ({ billingMode: mode }: UsageEvent) => mode === 'org_pays' || mode === 'house'
