import { sql, type Kysely } from 'kysely'
import type { Balance } from './schema'
import type { BilledAccount } from './billed-account'
import type { Schema } from '../../../platform/db/schema'
import { ApiError } from '../../../errors'
import { toTimestamp } from '../../../http/fields'
import { heldOf } from '../../../ledger/held-amounts'
import type { Settings } from '../../../platform/settings/stored-settings'
import { toUsd } from '../../../wire/usd'

interface Row {
  posted: bigint
  held: bigint
  payment_method_required: boolean
  is_charged: boolean
  funding_source: 'personal' | 'organization'
  updated_at: Date
}

/** Reads the balance of an account. Source: contract 6.7. */
export async function readBalance(
  db: Kysely<Schema>,
  { id, organizationId }: BilledAccount,
  { minimumBalance, warningThreshold }: Settings,
): Promise<Balance> {
  const { rows } = await sql<Row>`
    select posted, ${heldOf('a.id')} as held, payment_method_required,
      -- Users choose it in their settings; an organization pays by itself.
      case when ${organizationId}::text is not null then 'organization'
        when u.funding_organization_id is not null then 'organization'
        else 'personal' end as funding_source,
      not coalesce(plan.house_pays, false) as is_charged,
      coalesce(
        (select created_at from ledger_entry where account_id = a.id order by id desc limit 1),
        a.created_at
      ) as updated_at
    from credit_account as a left join users as u on u.id = a.id
      left join plan on plan.id = u.plan_id
    where a.id = ${id}`.execute(db)
  const [row] = rows
  if (!row) throw new ApiError('resource_not_found')
  const available = row.posted - row.held
  return {
    balance: toUsd(row.posted),
    held: toUsd(row.held),
    available_balance: toUsd(available),
    currency: 'USD',
    minimum_required: toUsd(minimumBalance),
    warning_threshold: toUsd(warningThreshold),
    low_balance: available < warningThreshold,
    funding_source: row.funding_source,
    organization_id: organizationId,
    payment_method_required: row.payment_method_required,
    is_charged: row.is_charged,
    updated_at: toTimestamp(row.updated_at),
  }
}
