import type { UsageEvent } from '../ledger/usage-event'

const oneInMillionths = 1_000_000n

/** Returns the platform's part of the charge. Source: contract 11.1. */
export function feeOf({ billingMode, cost, feeMillionths }: UsageEvent): bigint {
  if (billingMode === 'byok' || billingMode === 'org_pays') return cost
  return feeMillionths ? (cost * BigInt(feeMillionths)) / oneInMillionths : 0n
}
