import { sql } from 'kysely'
import { toBudgetLimit, type WindowLimit } from '../limits/caller-limits'
import type { WindowUnit } from '../platform/time-window'

/** A budget as a query of keys or accounts returns it. */
interface CachedBudget {
  id: string
  keyId: string | null
  name: string
  /** Nano-dollars as text, as numbers in JSON are not exact. */
  spend: string | null
  requests: number | null
  unit: WindowUnit
  timeZone: string
  firstWeekday: number
}

const asJson = sql`jsonb_agg(jsonb_build_object(
  'id', budget.id, 'keyId', budget.key_id, 'name', budget.name, 'spend', budget.spend::text,
  'requests', budget.requests, 'unit', budget.window_unit, 'timeZone', budget.time_zone,
  'firstWeekday', budget.first_weekday
) order by budget.id)`

/** Selects the hard budgets of a row of `users`; null for none. Soft ones limit nothing. */
export const budgetsOfAccount = sql<CachedBudget[] | null>`(
  select ${asJson} from budget
  where budget.user_id = users.id and budget.key_id is null and budget.enforcement = 'hard'
)`

/** Selects the hard budgets of a row of `api_key`, and of its account in `users`; null for none. */
export const budgetsOfKey = sql<CachedBudget[] | null>`(
  select ${asJson} from budget
  where budget.user_id = users.id and (budget.key_id is null or budget.key_id = api_key.id)
    and budget.enforcement = 'hard'
)`

/** Returns the limits that budgets of an account and of one of its keys are. */
export const toBudgetLimits = (
  userId: string,
  budgets: readonly CachedBudget[] | null,
): WindowLimit[] =>
  (budgets ?? []).map(({ id, keyId, name, spend, requests, unit, timeZone, firstWeekday }) =>
    toBudgetLimit({
      id,
      name,
      subjectId: keyId ?? userId,
      spend: spend === null ? null : BigInt(spend),
      requests,
      rule: { unit, timeZone, firstWeekday },
    }),
  )
