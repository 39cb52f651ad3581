import { sql, type Kysely } from 'kysely'
import type { BudgetUnit } from '../platform/db/budget-schema'
import type { Schema } from '../platform/db/schema'
import { toAmountOverride } from '../platform/db/stored-override'
import type { AmountOverride } from '../platform/amount-override'
import type { WindowRule } from '../platform/time-window'
import type { UsageFilter } from '../platform/usage-filter'

/** A budget of an organization as requests of its members need it. */
export interface OrganizationBudget extends UsageFilter {
  id: string
  name: string
  /** The member whose requests alone it counts; null for no single one. */
  memberId: string | null
  /** The department whose members' requests alone it counts; null for none. */
  department: string | null
  /** A soft one limits nothing: only the tags that it counts are needed. */
  isHard: boolean
  unit: BudgetUnit
  /** Nano-dollars, requests or tokens. */
  amount: bigint
  /** The amount that replaces it for a time; null for none. */
  override: AmountOverride | null
  rule: WindowRule
}

/** Reads the budgets of an organization that limit requests, or whose usage is counted by tags. */
export async function readOrganizationBudgets(
  db: Kysely<Schema>,
  organizationId: string,
): Promise<readonly OrganizationBudget[]> {
  const rows = await db
    .selectFrom('organization_budget')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where(sql<boolean>`(enforcement = 'hard' or tags is not null or department is not null)`)
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    memberId: row.member_id,
    department: row.department,
    isHard: row.enforcement === 'hard',
    unit: row.unit,
    amount: row.amount,
    override: toAmountOverride(row),
    rule: {
      unit: row.window_unit,
      timeZone: row.time_zone,
      firstWeekday: row.first_weekday,
    },
    models: row.models,
    providers: row.providers,
    tags: row.tags,
  }))
}
