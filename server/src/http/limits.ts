import { z } from 'zod'
import { usd } from '../wire/usd'
import { toUsd } from '../wire/usd'

/** A limit that is counted in whole things. */
export const limit = z.int().min(1).max(2_147_483_647)

/** The five quota types; null is no limit. Source: contract 6.11. */
export const quotaFields = {
  requests_per_minute: limit.nullish(),
  tokens_per_minute: limit.nullish(),
  concurrent_requests: limit.nullish(),
  monthly_requests: limit.nullish(),
  monthly_spend: usd(2).nullish(),
}

/** What overrides a plan for one account: null lifts a limit, what is absent is as the plan has it. */
export const Overrides = z.object(quotaFields)
export type Overrides = z.output<typeof Overrides>

/** Overrides as they are stored, which `readOverrides` reads. JSON has no `bigint`. */
export const toStoredOverrides = (overrides: Overrides): string =>
  JSON.stringify(overrides, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )

/** Stored overrides as an answer shows them. */
export const toShownOverrides = (stored: Record<string, unknown>): Record<string, unknown> => {
  const shown: Record<string, unknown> = { ...stored }
  const spend = shown['monthly_spend']
  if (typeof spend === 'string') shown['monthly_spend'] = toUsd(BigInt(spend))
  return shown
}
