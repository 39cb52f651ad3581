import { z } from 'zod'
import { line } from '../../../http/fields'
import { usd } from '../../../wire/usd'

const isWithinUsd = (max: number) => (amount: bigint) => amount <= BigInt(max) * 1_000_000_000n

const amount = (min: number, max: number) =>
  usd(2, min).refine(isWithinUsd(max), {
    params: { issue: 'out_of_range' },
    message: `must be at most ${max}.`,
  })

/** The fields that an account may change. Source: contract 6.5. */
export const ChangedSettings = z
  .object({
    display_name: line(100),
    funding_source: z.enum(['personal', 'organization']),
    funding_organization_id: z.string().max(100).nullable(),
    primary_organization_id: z.string().max(100).nullable(),
    log_bodies: z.boolean(),
    bare_model_names: z.boolean().nullable(),
    auto_recharge: z
      .object({ enabled: z.boolean(), threshold: amount(1, 1000), amount: amount(5, 10_000) })
      .partial(),
  })
  .partial()
  .meta({ ref: 'ChangedSettings' })
export type ChangedSettings = z.output<typeof ChangedSettings>
