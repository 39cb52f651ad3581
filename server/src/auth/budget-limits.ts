import { sql } from 'kysely'
import { toBudgetLimit, type CallerBudgets, type WindowLimit } from '../limits/caller-limits'
import type { BudgetUnit, enforcements } from '../platform/db/budget-schema'
import type { WindowUnit } from '../platform/time-window'
import { toUsageFilter } from '../platform/usage-filter'

/** A budget as a query of keys or accounts returns it. */
interface CachedBudget {
  id: string
  keyId: string | null
  name: string
  enforcement: (typeof enforcements)[number]
  unit: BudgetUnit
  /** Nano-dollars, requests or tokens as text, as numbers in JSON are not exact. */
  amount: string
  window: WindowUnit
  timeZone: string
  firstWeekday: number
  models: string[] | null
  providers: string[] | null
  tags: string[] | null
  /** Nano-dollars, requests or tokens as text; null for no override. */
  overrideAmount: string | null
  overrideFromMs: number
  overrideUntilMs: number
}

const asJson = sql`jsonb_agg(jsonb_build_object(
  'id', budget.id, 'keyId', budget.key_id, 'name', budget.name, 'enforcement', budget.enforcement,
  'unit', coalesce(budget.unit, case when budget.spend is null then 'requests' else 'usd' end),
  'amount', coalesce(budget.amount, budget.spend, budget.requests)::text,
  'window', budget.window_unit, 'timeZone', budget.time_zone, 'firstWeekday', budget.first_weekday,
  'models', budget.models, 'providers', budget.providers, 'tags', budget.tags,
  'overrideAmount', budget.override_amount::text,
  'overrideFromMs', (extract(epoch from budget.override_from) * 1000)::float8,
  'overrideUntilMs', (extract(epoch from budget.override_until) * 1000)::float8
) order by budget.id)`

/** Soft ones limit nothing, but what has their tags is counted. */
const isCached = sql`(budget.enforcement = 'hard' or budget.tags is not null)`

/** Selects the budgets of a row of `users` that its requests need; null for none. */
export const budgetsOfAccount = sql<CachedBudget[] | null>`(
  select ${asJson} from budget
  where budget.user_id = users.id and budget.key_id is null and ${isCached}
)`

/** Selects those of a row of `api_key`, and of its account in `users`; null for none. */
export const budgetsOfKey = sql<CachedBudget[] | null>`(
  select ${asJson} from budget
  where budget.user_id = users.id and (budget.key_id is null or budget.key_id = api_key.id)
    and ${isCached}
)`

/** Returns the limits that budgets of an account and of one of its keys are, and the tags that they count. */
export function toCallerBudgets(
  userId: string,
  cachedBudgets: readonly CachedBudget[] | null,
): CallerBudgets {
  const budgets = cachedBudgets ?? []
  return {
    limits: budgets
      .filter(({ enforcement }) => enforcement === 'hard')
      .map((budget) => toLimit(userId, budget)),
    tags: [...new Set(budgets.flatMap(({ tags }) => tags ?? []))],
  }
}

function toLimit(userId: string, budget: CachedBudget): WindowLimit {
  const { id, keyId, name, unit, amount, window, timeZone, firstWeekday } = budget
  return toBudgetLimit({
    id,
    name,
    subjectId: keyId ?? userId,
    spend: unit === 'usd' ? BigInt(amount) : null,
    requests: unit === 'requests' ? Number(amount) : null,
    tokens: unit === 'tokens' ? BigInt(amount) : null,
    rule: { unit: window, timeZone, firstWeekday },
    filter: toUsageFilter(budget),
    override: toOverride(budget),
  })
}

function toOverride({ overrideAmount, overrideFromMs, overrideUntilMs }: CachedBudget) {
  if (overrideAmount === null) return undefined
  return { amount: BigInt(overrideAmount), fromMs: overrideFromMs, untilMs: overrideUntilMs }
}
