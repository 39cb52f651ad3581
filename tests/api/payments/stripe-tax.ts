import type { Json } from '../../harness/http'

/** A tax of 19 percent in the total, of checkouts with Stripe Tax. */
export function taxOf({ automatic_tax: mode, amount_total: total }: Json): Json {
  if (typeof mode !== 'object' || mode === null || !('enabled' in mode) || !mode.enabled) return {}
  return {
    automatic_tax: { enabled: true, status: 'complete' },
    total_details: { amount_tax: Math.round((Number(total) * 19) / 119) },
  }
}
