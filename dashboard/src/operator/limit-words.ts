import { count, usd } from '../figures'
import type { QuotaType } from '../money-search'

/** Formats a limit in its unit; null is no limit. */
export function limitWords(type: QuotaType, limit: number | null): string {
  if (limit === null) return 'none'
  return type === 'monthly_spend' ? usd(limit) : count(limit)
}
