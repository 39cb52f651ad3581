import { sql, type Kysely } from 'kysely'
import { limitOf, percentageOf, toPublicLimit } from './limit-values'
import {
  quotaTypes,
  type MemberQuota,
  type PublicQuota,
  type QuotaType,
  type QuotaStatus,
} from './schema'
import { readAccountLimits } from '../../../auth/account-limits'
import { combineLimits, type LimitBucket, type LimitScope } from '../../../limits/caller-limits'
import { generateIdBody } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { toTimestamp } from '../../../http/fields'
import { toPaidAmount } from '../../../http/payer'
import { readMemberBudgets, type MemberBudget } from '../../../ledger/member-budgets'
import { readWindows } from '../../../ledger/window-sums'
import { readPaidParts } from '../../../ledger/usage-cost'
import { toUsd } from '../../../wire/usd'
import type { BucketUse } from '../../../limits/counters'

export interface StatusPorts {
  db: Kysely<Schema>
  /** Current counts: of the windows in their order, then of the running requests. */
  used: (at: {
    windows: readonly LimitBucket[]
    running: readonly LimitBucket[]
  }) => Promise<readonly BucketUse[]>
  /** The calendar month of a moment, in UTC. */
  monthOf: (wallMs: number) => { fromMs: number; toMs: number }
}

const units: Record<QuotaType, PublicQuota['unit']> = {
  requests_per_minute: 'requests',
  tokens_per_minute: 'tokens',
  images_per_minute: 'images',
  audio_seconds_per_minute: 'seconds',
  concurrent_requests: 'requests',
  monthly_requests: 'requests',
  monthly_spend: 'usd',
}

/** Usage of a type, for `monthly_spend` in nano-dollars, and the time at which capacity returns. */
interface Usage {
  used: bigint
  resetsAtMs: number | null
}

/** Reads an account's usage of each of its limits. */
export async function readStatus(ports: StatusPorts, userId: string): Promise<QuotaStatus> {
  const { db, monthOf } = ports
  const { plan, limits } = await readAccountLimits(db, userId)
  const nowMs = Date.now()
  const { fromMs, toMs } = monthOf(nowMs)
  const [from, to] = [new Date(fromMs), new Date(toMs)]
  const usedBy = [{ id: userId, subjectId: userId, userId, window: { fromMs, toMs } }]
  const [live, month, budgets, paid] = await Promise.all([
    readLive(ports, limits, nowMs),
    readWindows(db, { usedBy, unbooked: () => [] }),
    readMemberBudgets(db, [userId]),
    readPaidParts(db, { userId }, { grain: 'day', start: from, end: to }),
  ])
  const { requests = 0, spent = 0n } = month.sums.get(userId) ?? {}
  const usage: Record<QuotaType, Usage> = {
    ...live,
    monthly_requests: { used: BigInt(requests), resetsAtMs: toMs },
    monthly_spend: { used: spent, resetsAtMs: toMs },
  }
  return {
    tier: plan,
    period: { start: toTimestamp(from), end: toTimestamp(to) },
    quotas: quotaTypes.map((type) => toQuota(type, limitOf(limits, type), usage[type])),
    organizations: budgets.map((budget) => toMemberQuota(budget, to)),
    usage_cost: toUsd(paid.reduce((sum, { cost }) => sum + cost, 0n)),
    by_payer: paid.map(toPaidAmount),
    updated_at: toTimestamp(new Date(nowMs)),
  }
}

function toMemberQuota(budget: MemberBudget, resetsAt: Date): MemberQuota {
  const { organizationId, name, isFunding, limit, spent } = budget
  return {
    organization_id: organizationId,
    organization_name: name,
    funds_platform_models: isFunding,
    limit: limit === null ? null : toUsd(limit),
    used: toUsd(spent),
    remaining: limit === null ? null : toUsd(restOf(limit, spent)),
    percentage: limit === null ? 0 : percentageOf(spent, limit),
    resets_at: toTimestamp(resetsAt),
  }
}

const restOf = (limit: bigint, used: bigint) => (used < limit ? limit - used : 0n)

function toQuota(type: QuotaType, limit: bigint | null, { used, resetsAtMs }: Usage): PublicQuota {
  return {
    type,
    limit: limit === null ? null : toPublicLimit(type, limit),
    used: toPublicLimit(type, used),
    remaining: limit === null ? null : toPublicLimit(type, restOf(limit, used)),
    percentage: limit === null ? 0 : percentageOf(used, limit),
    unit: units[type],
    resets_at: resetsAtMs === null ? null : toTimestamp(new Date(resetsAtMs)),
  }
}

type LiveType = Exclude<QuotaType, 'monthly_requests' | 'monthly_spend'>

/** Reads the counters of limited types; usage without a limit comes from the log, which lacks running requests. */
async function readLive(
  { db, used }: StatusPorts,
  limits: LimitScope,
  nowMs: number,
): Promise<Record<LiveType, Usage>> {
  const { requests, tokens, images, audioSeconds, running } = combineLimits([limits])
  const kinds = [requests, tokens, images, audioSeconds]
  const windows = kinds.flat()
  const [counts, logged] = await Promise.all([
    used({ windows, running }),
    windows.length < kinds.length ? readLastMinute(db, limits.id, nowMs) : nothingLogged,
  ])
  const byId = new Map([...windows, ...running].map(({ id }, index) => [id, counts[index]]))
  const usageOf = ([bucket]: readonly LimitBucket[], unlimited: bigint): Usage => {
    const at = bucket && byId.get(bucket.id)
    if (!at) return { used: unlimited, resetsAtMs: null }
    return { used: BigInt(at.used), resetsAtMs: at.resetMs > 0 ? nowMs + at.resetMs : null }
  }
  return {
    requests_per_minute: usageOf(requests, logged.requests),
    tokens_per_minute: usageOf(tokens, logged.tokens),
    images_per_minute: usageOf(images, logged.images),
    audio_seconds_per_minute: usageOf(audioSeconds, logged.seconds),
    concurrent_requests: usageOf(running, 0n),
  }
}

const minuteMs = 60_000

/** The logged use of a minute; seconds are those of sound, each request rounded up. */
interface LoggedUse {
  requests: bigint
  tokens: bigint
  images: bigint
  seconds: bigint
}

const nothingLogged: LoggedUse = { requests: 0n, tokens: 0n, images: 0n, seconds: 0n }

async function readLastMinute(
  db: Kysely<Schema>,
  userId: string,
  nowMs: number,
): Promise<LoggedUse> {
  // Ids sort by time, so that the index of an account's log leads to its newest rows.
  const { rows } = await sql<LoggedUse>`
    select count(*) as requests, coalesce(sum(input_tokens + output_tokens), 0)::bigint as tokens,
      coalesce(sum(images), 0)::bigint as images,
      coalesce(sum(ceil((coalesce(sound_ms, 0) + coalesce(speech_ms, 0)) / 1000.0)), 0)::bigint
        as seconds
    from request_log
    where user_id = ${userId} and id > ${`req_${generateIdBody(nowMs - minuteMs)}`}
      and started_at > ${new Date(nowMs - minuteMs)}`.execute(db)
  return rows[0] ?? nothingLogged
}
