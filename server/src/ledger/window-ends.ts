import type { Kysely } from 'kysely'
import { toWindowRule } from './budget-use'
import { toSummedParts, type SummedPart } from './summed-parts'
import { findWindow } from '../platform/time-window'
import type { Schema } from '../platform/db/schema'

/** Sums of an account's usage, or of what an organization paid, that a budget reads. */
export interface RetainedSums extends SummedPart {
  userId: string | null
  payerId: string | null
}

/**
 * Finds the sums by hour and by minute at the ends of the current windows of budgets: without them, the windows that
 * begin within a day or an hour of UTC could not be counted to their end.
 */
export async function findWindowEnds(db: Kysely<Schema>, nowMs: number): Promise<RetainedSums[]> {
  const ofAccounts = await db
    .selectFrom('budget')
    .select(['user_id', 'window_unit', 'time_zone', 'first_weekday'])
    .distinct()
    .execute()
  const ofOrganizations = await db
    .selectFrom('organization_budget')
    .select(['organization_id', 'window_unit', 'time_zone', 'first_weekday'])
    .distinct()
    .execute()
  const budgets = [
    ...ofAccounts.map((row) => ({ userId: row.user_id, payerId: null, row })),
    ...ofOrganizations.map((row) => ({ userId: null, payerId: row.organization_id, row })),
  ]
  return budgets.flatMap(({ row, ...owner }) =>
    toSummedParts(findWindow(toWindowRule(row), nowMs))
      .filter(({ grain }) => grain !== 'day')
      .map((part) => ({ ...owner, ...part })),
  )
}
