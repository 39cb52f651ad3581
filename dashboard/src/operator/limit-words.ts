import { count, usd } from '../figures'
import type { QuotaType } from '../money-search'

/** A limit as its unit is written; null is none. */
export function limitWords(type: QuotaType, limit: number | null): string {
  if (limit === null) return 'none'
  return type === 'monthly_spend' ? usd(limit) : count(limit)
}
