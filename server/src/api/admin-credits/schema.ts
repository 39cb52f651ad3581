import { z } from 'zod'
import { usd, trimmed } from '../../http/fields'

const target = {
  user_id: z.string(),
  reason: trimmed(500),
}

export const Grant = z.object({
  ...target,
  amount: usd(9).refine((amount) => amount > 0n, {
    params: { issue: 'out_of_range' },
    message: 'must be above 0.',
  }),
})
export type Grant = z.output<typeof Grant>

export const Adjustment = z.object({
  ...target,
  amount: usd(9, -1e9).refine((amount) => amount !== 0n, {
    params: { issue: 'out_of_range' },
    message: 'must not be 0.',
  }),
})
export type Adjustment = z.output<typeof Adjustment>
