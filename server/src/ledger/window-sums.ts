import { sql, type Kysely } from 'kysely'
import { usageCost } from './usage-cost'
import type { Schema } from '../platform/db/schema'

/**
 * An account, or one of its keys: the two ids are equal for the account itself. Or an organization, by its own
 * id, or one member of it.
 */
export interface UsedBy {
  id: string
  userId: string
  organizationId?: string | null | undefined
}

/** A usage event that may not have been booked yet. */
export interface Unbooked {
  id: string
  /** ISO 8601, in UTC. */
  startedAt: string
}

/** The usage of a calendar month. */
export interface MonthSum {
  requests: number
  /**
   * Nano-dollars that were charged, or that the house paid; of an organization and its members, the price that
   * counts as their spending.
   */
  spent: bigint
}

/** A snapshot of the database: a sum by id, and which of the requested events it contains. */
export interface MonthSums {
  sums: ReadonlyMap<string, MonthSum>
  bookedIds: readonly string[]
}

/** A query for the usage of a month. */
export interface MonthQuery {
  usedBy: readonly UsedBy[]
  /** The first moment of the month, and of the next one. */
  from: Date
  to: Date
  /** Called when the connection is there, so that no event is booked before the query looks for it. */
  unbooked: () => readonly Unbooked[]
}

interface Row {
  id: string
  /** Null for a booked event. */
  requests: bigint | null
  spent: bigint | null
}

/**
 * Reads the month's usage of accounts, keys, organizations and their members from the sums by day, which are kept
 * for ever. One statement and so one snapshot: an event is either in a sum or not among the booked.
 */
export const readMonth = (db: Kysely<Schema>, { usedBy, from, to, unbooked }: MonthQuery) =>
  db.connection().execute(async (connection): Promise<MonthSums> => {
    const events = unbooked()
    // ISO 8601 in UTC sorts as text; days without any of the events are not read.
    const times = events.map(({ startedAt }) => startedAt).toSorted()
    const own = usedBy.filter(({ organizationId }) => !organizationId)
    const { rows } = await sql<Row>`
      select used_by.id, coalesce(sum(u.requests), 0)::bigint as requests,
        -- Of an account: its own payments. Of a key: those of any payer.
        coalesce(sum(${usageCost})
          filter (where used_by.id <> used_by.user_id or u.account_id = used_by.user_id), 0
        )::bigint as spent
      from unnest(
        ${own.map(({ id }) => id)}::text[], ${own.map(({ userId }) => userId)}::text[]
      ) as used_by (id, user_id)
      left join usage_sum as u
        on u.user_id = used_by.user_id and u.grain = 'day'
        and u.starts_at >= ${from} and u.starts_at < ${to}
        and (used_by.id = used_by.user_id or u.key_id = used_by.id)
      group by used_by.id
      union all
      ${ofOrganizations(usedBy, from, to)}
      union all
      select id, null, null from usage_event
      where id = any(${events.map(({ id }) => id)}::text[])
        and started_at between ${times[0] ?? null}::timestamptz and ${times.at(-1) ?? null}::timestamptz
    `.execute(connection)
    const sums = new Map<string, MonthSum>()
    const bookedIds: string[] = []
    for (const { id, requests, spent } of rows) {
      if (requests === null || spent === null) bookedIds.push(id)
      else sums.set(id, { requests: Number(requests), spent })
    }
    return { sums, bookedIds }
  })

/** The sum of an organization is that of all of its members. */
const ofOrganizations = (usedBy: readonly UsedBy[], from: Date, to: Date) => {
  const sharedUses = usedBy.filter(({ organizationId }) => organizationId)
  return sql`
    select used_by.id, coalesce(sum(s.requests), 0)::bigint, coalesce(sum(s.spent), 0)::bigint
    from unnest(
      ${sharedUses.map(({ id }) => id)}::text[],
      ${sharedUses.map(({ organizationId }) => organizationId)}::text[],
      ${sharedUses.map(({ userId }) => userId)}::text[]
    ) as used_by (id, organization_id, user_id)
    left join organization_sum as s
      on s.organization_id = used_by.organization_id
      and (used_by.id = used_by.organization_id or s.user_id = used_by.user_id)
      and s.day >= (${from}::timestamptz at time zone 'UTC')::date
      and s.day < (${to}::timestamptz at time zone 'UTC')::date
    group by used_by.id`
}
