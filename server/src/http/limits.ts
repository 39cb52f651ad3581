import { z } from 'zod'
import { limit } from '../platform/integer'
import { toUsd, usd } from '../wire/usd'

/** The quota types; null for no limit. Source: contract 6.11. */
export const quotaFields = {
  requests_per_minute: limit.nullish(),
  tokens_per_minute: limit.nullish(),
  images_per_minute: limit.nullish(),
  audio_seconds_per_minute: limit.nullish(),
  concurrent_requests: limit.nullish(),
  monthly_requests: limit.nullish(),
  monthly_spend: usd(2).nullish(),
}

/** An account's overrides of its plan: null lifts a limit, and the plan applies to absent fields. */
export const Overrides = z.object(quotaFields)
export type Overrides = z.output<typeof Overrides>

/** Converts overrides to the stored text, which `readAccountLimits` reads. JSON has no `bigint`. */
export const toStoredOverrides = (overrides: Overrides): string =>
  JSON.stringify(overrides, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )

/** Shows stored overrides. */
export const toPublicOverrides = (stored: Record<string, unknown>): Record<string, unknown> => {
  const formatted: Record<string, unknown> = { ...stored }
  const spend = formatted['monthly_spend']
  if (typeof spend === 'string') formatted['monthly_spend'] = toUsd(BigInt(spend))
  return formatted
}
