import { sql, type Kysely } from 'kysely'
import type { UsageFilters } from './usage-schema'
import type { Principal } from '../../../auth/principal'
import { managers, findRole, type Role } from '../../../auth/roles'
import { isId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { ApiError, invalidRequest } from '../../../errors'
import { toTimestamp } from '../../../http/fields'
import { toUsd } from '../../../wire/usd'

/** Roles that see the usage of other members. Source: contract 2.4. */
const overseers: readonly Role[] = [...managers, 'developer']

const dayMs = 86_400_000
const usualDays = 30

interface Row {
  name: string | null
  email: string | null
  display_name: string | null
  requests: bigint
  input_tokens: bigint
  output_tokens: bigint
  price: bigint
  cost: bigint
  spent: bigint
  duration_ms: bigint
}

interface UsageQuery {
  organizationId: string
  /** Restricts usage to one member; null for all members. */
  userId: string | null
  start: Date
  end: Date
}

const toUsed = (row: Row) => ({
  requests: Number(row.requests),
  input_tokens: Number(row.input_tokens),
  output_tokens: Number(row.output_tokens),
  cost_usd: toUsd(row.price),
  charged_usd: toUsd(row.cost),
  counted_usd: toUsd(row.spent),
  avg_latency_ms:
    row.requests === 0n ? null : Math.round(Number(row.duration_ms) / Number(row.requests)),
})

export type OrganizationUsageStore = ReturnType<typeof createOrganizationUsageStore>

/**
 * Members' usage of an organization's connections and pool, at catalogue prices. Rejects with `resource_not_found`
 * for a caller that is no active member. Source: contract 7.4.
 */
export const createOrganizationUsageStore = (db: Kysely<Schema>) => ({
  async get({ userId }: Principal, organizationId: string, filters: UsageFilters) {
    const { start, end } = periodOf(filters)
    const role = isId('org', organizationId)
      ? await findRole(db, userId, organizationId)
      : undefined
    if (role === undefined) throw new ApiError('resource_not_found')
    const isAll = overseers.includes(role)
    const query = { organizationId, userId: isAll ? null : userId, start, end }
    const rows = await read(db, query, filters.group_by)
    return {
      period: { start: toTimestamp(start), end: toTimestamp(end) },
      usage: toUsage(rows, filters.group_by, { isManager: managers.includes(role), userId }),
    }
  },
})

/** Rounds to whole days in UTC, as the sums are kept by day. */
function periodOf({ start_date: from, end_date: to }: UsageFilters) {
  const end = to ? new Date(Math.ceil(to.getTime() / dayMs) * dayMs) : midnightAfter(Date.now())
  const start = from
    ? new Date(Math.floor(from.getTime() / dayMs) * dayMs)
    : new Date(end.getTime() - usualDays * dayMs)
  if (start < end) return { start, end }
  throw invalidRequest('start_date', 'out_of_range', 'start_date: must be before end_date.')
}

const midnightAfter = (ms: number) => new Date((Math.floor(ms / dayMs) + 1) * dayMs)

/** The groupings of usage, and their columns. */
const groups = {
  user: sql`s.user_id as name, users.email, users.display_name`,
  model: sql`s.model as name, null::text as email, null::text as display_name`,
  department: sql`membership.department as name, null::text as email, null::text as display_name`,
}

async function read(db: Kysely<Schema>, query: UsageQuery, by: keyof typeof groups) {
  const { organizationId, userId, start, end } = query
  const { rows } = await sql<Row>`
    select ${groups[by]},
      sum(s.requests)::bigint as requests, sum(s.input_tokens)::bigint as input_tokens,
      sum(s.output_tokens)::bigint as output_tokens, sum(s.price)::bigint as price,
      sum(s.cost)::bigint as cost, sum(s.spent)::bigint as spent,
      sum(s.duration_ms)::bigint as duration_ms
    from organization_sum as s
    left join users on users.id = s.user_id
    left join membership
      on membership.organization_id = s.organization_id and membership.user_id = s.user_id
    where s.organization_id = ${organizationId}
      and (${userId}::text is null or s.user_id = ${userId})
      and s.day >= (${start}::timestamptz at time zone 'UTC')::date
      and s.day < (${end}::timestamptz at time zone 'UTC')::date
    group by 1, 2, 3
    order by sum(s.price) desc, 1`.execute(db)
  return rows
}

interface Viewer {
  isManager: boolean
  userId: string
}

function toUsage(rows: readonly Row[], by: keyof typeof groups, viewer: Viewer) {
  if (by === 'model') {
    return { by_model: rows.map((row) => ({ model: row.name ?? '', ...toUsed(row) })) }
  }
  if (by === 'department') {
    return { by_department: rows.map((row) => ({ department: row.name, ...toUsed(row) })) }
  }
  return {
    by_user: rows.map((row) => ({
      user_id: row.name ?? '',
      email: viewer.isManager || row.name === viewer.userId ? row.email : null,
      display_name: row.display_name,
      ...toUsed(row),
    })),
  }
}
