import { count } from '../../../format/figures'
import { usd } from '../../../format/money'
import type { QuotaType } from '../../../url/period'

/** Formats a limit in its unit; null is no limit. */
export function formatLimit(type: QuotaType, limit: number | null): string {
  if (limit === null) return 'none'
  return type === 'monthly_spend' ? usd(limit) : count(limit)
}
