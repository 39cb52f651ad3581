import type { Kysely, Selectable } from 'kysely'
import type { LimitScope } from '../limits/caller-limits'
import type { PlanRow, Schema, UserRow } from '../platform/db/schema'

/** The columns of an account's plan. */
export const planLimits = [
  'plan.requests_per_minute as plan_requests',
  'plan.tokens_per_minute as plan_tokens',
  'plan.images_per_minute as plan_images',
  'plan.audio_seconds_per_minute as plan_audio_seconds',
  'plan.max_concurrent_requests as plan_running',
  'plan.monthly_requests as plan_monthly_requests',
  'plan.monthly_spend as plan_monthly_spend',
] as const

/** An account's overrides, and the limits of its plan. */
interface Granted extends Pick<Selectable<UserRow>, 'limits'> {
  plan_requests: PlanRow['requests_per_minute']
  plan_tokens: PlanRow['tokens_per_minute']
  plan_images: PlanRow['images_per_minute']
  plan_audio_seconds: PlanRow['audio_seconds_per_minute']
  plan_running: PlanRow['max_concurrent_requests']
  plan_monthly_requests: PlanRow['monthly_requests']
  plan_monthly_spend: PlanRow['monthly_spend']
}

/** Returns a limit of one account: its override, null for no limit, else the plan's. */
function overridden(
  overrides: Record<string, unknown>,
  type: string,
  planLimit: number | null,
): number | null {
  const value = overrides[type]
  if (value === undefined) return planLimit
  return typeof value === 'number' ? value : null
}

/** Returns the spending limit in the same way: nano-dollars, which JSON holds as text. */
function overriddenSpend(overrides: Record<string, unknown>, planLimit: bigint | null) {
  const value = overrides['monthly_spend']
  if (value === undefined) return planLimit
  return typeof value === 'string' ? BigInt(value) : null
}

/** Returns the limits of an account alone, without those of its keys. */
export const accountScope = (id: string, row: Granted): LimitScope => ({
  id,
  requestsPerMinute: overridden(row.limits, 'requests_per_minute', row.plan_requests),
  tokensPerMinute: overridden(row.limits, 'tokens_per_minute', row.plan_tokens),
  imagesPerMinute: overridden(row.limits, 'images_per_minute', row.plan_images),
  audioSecondsPerMinute: overridden(row.limits, 'audio_seconds_per_minute', row.plan_audio_seconds),
  maxConcurrentRequests: overridden(row.limits, 'concurrent_requests', row.plan_running),
  monthlyRequests: overridden(row.limits, 'monthly_requests', row.plan_monthly_requests),
  monthlySpend: overriddenSpend(row.limits, row.plan_monthly_spend),
})

/** Reads the name of an account's plan, and its limits. Rejects for an unknown account. */
export async function readAccountLimits(db: Kysely<Schema>, userId: string) {
  const row = await db
    .selectFrom('users')
    .innerJoin('plan', 'plan.id', 'users.plan_id')
    .select(['users.limits', 'plan.name', ...planLimits])
    .where('users.id', '=', userId)
    .executeTakeFirstOrThrow()
  return { plan: row.name, limits: accountScope(userId, row) }
}
