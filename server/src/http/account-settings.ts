import { z } from 'zod'
import { toTimestamp } from './fields'
import { toUsd } from '../wire/usd'

/** The stored settings of an account. Amounts are nano-dollars. */
export interface StoredSettings {
  id: string
  email: string
  display_name: string
  handle: string | null
  plan_id: string
  plan_name: string
  funding_organization_id: string | null
  primary_organization_id: string | null
  log_bodies: boolean
  bare_model_names: boolean | null
  auto_recharge_enabled: boolean
  auto_recharge_threshold: bigint
  auto_recharge_amount: bigint
  payment_method_id: string | null
  payment_method_required: boolean | null
  created_at: Date
  updated_at: Date
}

/** Source: contract 6.5. */
export const Settings = z
  .object({
    user_id: z.string(),
    email: z.string(),
    display_name: z.string(),
    handle: z.string().nullable(),
    plan: z.object({ id: z.string(), name: z.string() }),
    funding_source: z.enum(['personal', 'organization']),
    funding_organization_id: z.string().nullable(),
    primary_organization_id: z.string().nullable(),
    log_bodies: z.boolean(),
    bare_model_names: z
      .boolean()
      .nullable()
      .describe(
        'Whether a model name without its provider is accepted on every endpoint; null for the setting of the service',
      ),
    auto_recharge: z.object({ enabled: z.boolean(), threshold: z.number(), amount: z.number() }),
    payment_method_saved: z.boolean(),
    payment_method_required: z.boolean(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ ref: 'AccountSettings' })

/** Shows settings. Identifiers of the payment processor stay internal. */
export const toPublicSettings = (row: StoredSettings): z.output<typeof Settings> => ({
  user_id: row.id,
  email: row.email,
  display_name: row.display_name,
  handle: row.handle,
  plan: { id: row.plan_id, name: row.plan_name },
  funding_source: row.funding_organization_id === null ? 'personal' : 'organization',
  funding_organization_id: row.funding_organization_id,
  primary_organization_id: row.primary_organization_id,
  log_bodies: row.log_bodies,
  bare_model_names: row.bare_model_names,
  auto_recharge: {
    enabled: row.auto_recharge_enabled,
    threshold: toUsd(row.auto_recharge_threshold),
    amount: toUsd(row.auto_recharge_amount),
  },
  payment_method_saved: row.payment_method_id !== null,
  payment_method_required: row.payment_method_required ?? false,
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
})
