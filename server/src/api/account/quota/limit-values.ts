import type { QuotaType } from './schema'
import type { LimitScope } from '../../../limits/caller-limits'
import { invalidRequest } from '../../../errors'
import { toUsd } from '../../../wire/usd'
import { maxInteger } from '../../../platform/integer'

/** Returns the limit of a type, for `monthly_spend` in nano-dollars; null for none. */
export function limitOf(limits: LimitScope, type: QuotaType): bigint | null {
  if (type === 'monthly_spend') return limits.monthlySpend
  const limit = {
    requests_per_minute: limits.requestsPerMinute,
    tokens_per_minute: limits.tokensPerMinute,
    images_per_minute: limits.imagesPerMinute,
    audio_seconds_per_minute: limits.audioSecondsPerMinute,
    concurrent_requests: limits.maxConcurrentRequests,
    monthly_requests: limits.monthlyRequests,
  }[type]
  return limit === null ? null : BigInt(limit)
}

/** Converts a stored limit to its JSON value: USD for `monthly_spend`. */
export const toPublicLimit = (type: QuotaType, stored: bigint): number =>
  type === 'monthly_spend' ? toUsd(stored) : Number(stored)

const max = { count: maxInteger, usd: 1e9 }

/** Converts a limit that a client sent in the field `param`. Throws `out_of_range`. */
export function toStoredLimit(type: QuotaType, value: number, param: string): bigint {
  const isMoney = type === 'monthly_spend'
  const isExact = isMoney ? Number(value.toFixed(2)) === value : Number.isInteger(value)
  const isWithin = value >= (isMoney ? 0 : 1) && value <= (isMoney ? max.usd : max.count)
  if (isExact && isWithin) return BigInt(isMoney ? Math.round(value * 1e9) : value)
  const rule = isMoney
    ? `must be USD with at most 2 decimals, up to ${max.usd}.`
    : `must be a whole number from 1 to ${max.count}.`
  throw invalidRequest(param, 'out_of_range', `${param}: ${rule}`)
}

/** Returns the used percentage of a limit, with two decimals: 100 for a limit of zero. */
export const percentageOf = (used: bigint, limit: bigint): number =>
  limit === 0n ? 100 : Math.round((Number(used) / Number(limit)) * 10_000) / 100
