import type { LogValues } from './log-record'
import type { UsageEvent } from '../ledger/usage-event'

const oneInMillionths = 1_000_000n

/** Returns the platform's part of the charge. Source: contract 11.1. */
export function feeOf({ billingMode, cost, feeMillionths }: UsageEvent): bigint {
  if (billingMode === 'byok' || billingMode === 'org_pays') return cost
  return feeMillionths ? (cost * BigInt(feeMillionths)) / oneInMillionths : 0n
}

type Logged = Pick<LogValues, 'billingMode' | 'cost' | 'platformFee'>

/** Returns the part of a request's cost that the house keeps; the column of that name is summed from it. Source: contract 11.6. */
export function revenueOf({ billingMode, cost, platformFee }: Logged): bigint {
  // The organization whose connection served it earns the rest.
  if (billingMode === 'member_pays') return platformFee
  return billingMode === 'house' ? 0n : cost
}

/** Whether the house may have paid the provider of a request, and its price is unknown. */
export const isUncosted = ({
  providerCost,
  billingMode,
  cost,
  inputTokens,
  outputTokens,
}: Pick<LogValues, 'providerCost' | 'billingMode' | 'cost' | 'inputTokens' | 'outputTokens'>) =>
  providerCost === null &&
  (billingMode === 'platform' || billingMode === 'house' || billingMode === 'free') &&
  (cost > 0n || inputTokens + outputTokens > 0)
