import { sql, type Kysely, type RawBuilder } from 'kysely'
import { toSummedParts } from './summed-parts'
import { usageCost } from './usage-cost'
import { summedTokens } from './usage-sums'
import type { OrganizationPayments, UsageFilter } from '../platform/usage-filter'
import type { Window } from '../platform/time-window'
import type { Schema } from '../platform/db/schema'

/** The usage of an account, a key, an organization or a member in a window. */
export interface UsedBy {
  /** Names the sum in the answer. */
  id: string
  /**
   * The id of the key, or of the account itself; of an organization, or, where it is another id, of the member
   * `userId` of it.
   */
  subjectId: string
  userId: string
  organizationId?: string | null | undefined
  /** The requests that it is of; absent for all. */
  filter?: UsageFilter | undefined
  /** Set for what an organization pays; it counts in no other sum of it. */
  payments?: OrganizationPayments | undefined
  /** For an organization and its members of whole days in UTC. */
  window: Window
}

/** A usage event that may not have been booked yet. */
export interface Unbooked {
  id: string
  /** ISO 8601, in UTC. */
  startedAt: string
}

/** The usage in a window. */
export interface WindowSum {
  requests: number
  /**
   * Nano-dollars that were charged, or that the house paid; of an organization and its members, the price that
   * counts as their spending.
   */
  spent: bigint
  /** Of prompts and answers. */
  tokens: bigint
}

/** A snapshot of the database: a sum by id, and which of the requested events it contains. */
export interface WindowSums {
  sums: ReadonlyMap<string, WindowSum>
  bookedIds: readonly string[]
}

/** A query for usage in windows. */
export interface WindowQuery {
  usedBy: readonly UsedBy[]
  /** Called when the connection is there, so that no event is booked before the query looks for it. */
  unbooked: () => readonly Unbooked[]
}

interface Row {
  id: string
  /** Null for a booked event. */
  requests: bigint | null
  spent: bigint | null
  tokens: bigint | null
}

/**
 * Reads the usage of accounts, keys, organizations and their members, each in its window: from the sums by day, which
 * are kept for ever, and at the ends of a window by hour and by minute. One statement and so one snapshot: an event is
 * either in a sum or not among the booked.
 */
export const readWindows = (db: Kysely<Schema>, query: WindowQuery) =>
  db.connection().execute((connection) => readWindowsOn(connection, query))

/** Reads as `readWindows` does, on a connection or in a transaction. */
export async function readWindowsOn(
  connection: Kysely<Schema>,
  { usedBy, unbooked }: WindowQuery,
): Promise<WindowSums> {
  const events = unbooked()
  // ISO 8601 in UTC sorts as text; days without any of the events are not read.
  const times = events.map(({ startedAt }) => startedAt).toSorted()
  const { rows } = await sql<Row>`
    ${ofAccounts(usedBy)}
    union all
    ${ofFiltered(usedBy)}
    ${ofOrganizations(usedBy)}
    union all
    select id, null, null, null from usage_event
    where id = any(${events.map(({ id }) => id)}::text[])
      and started_at between ${times[0] ?? null}::timestamptz and ${times.at(-1) ?? null}::timestamptz
  `.execute(connection)
  const sums = new Map<string, WindowSum>()
  const bookedIds: string[] = []
  for (const { id, requests, spent, tokens } of rows) {
    if (requests === null || spent === null || tokens === null) bookedIds.push(id)
    else sums.set(id, { requests: Number(requests), spent, tokens })
  }
  return { sums, bookedIds }
}

const toParts = (usedBy: readonly UsedBy[]) =>
  usedBy.flatMap(({ window, ...use }) => toSummedParts(window).map((part) => ({ ...use, ...part })))

type Part = ReturnType<typeof toParts>[number]

const partColumns = (parts: readonly Part[]) => sql`
  ${parts.map(({ id }) => id)}::text[],
  ${parts.map(({ subjectId }) => subjectId)}::text[],
  ${parts.map(({ userId }) => userId)}::text[],
  ${parts.map(({ grain }) => grain)}::text[],
  ${parts.map(({ fromMs }) => new Date(fromMs))}::timestamptz[],
  ${parts.map(({ toMs }) => new Date(toMs))}::timestamptz[]`

const partNames = sql.raw('id, subject_id, user_id, grain, from_time, to_time')

/** Of an account: its own payments. Of a key: those of any payer. */
const ofPayer = sql`part.subject_id <> part.user_id or u.account_id = part.user_id`

const isInPart = sql`
  u.user_id = part.user_id and u.grain = part.grain
  and u.starts_at >= part.from_time and u.starts_at < part.to_time
  and (part.subject_id = part.user_id or u.key_id = part.subject_id)`

const isPlainOwn = ({ organizationId, filter, payments }: UsedBy) =>
  !organizationId && !filter && !payments

const ofAccounts = (usedBy: readonly UsedBy[]) => {
  const parts = toParts(usedBy.filter(isPlainOwn))
  return sql`
    select part.id, coalesce(sum(u.requests), 0)::bigint as requests,
      coalesce(sum(${usageCost}) filter (where ${ofPayer}), 0)::bigint as spent,
      coalesce(sum(${summedTokens}), 0)::bigint as tokens
    from unnest(${partColumns(parts)}) as part (${partNames})
    left join usage_sum as u on ${isInPart}
    group by part.id`
}

/** Selects the sums of budgets with filters, and of organizations' payments; nothing where there are none, as nearly always. */
function ofFiltered(usedBy: readonly UsedBy[]) {
  const tagged = usedBy.filter(({ filter }) => filter?.tags)
  const untagged = usedBy.filter(({ filter }) => !filter?.tags)
  const sums = [
    { uses: untagged.filter(isFilteredOwn), source: bySums },
    { uses: tagged.filter(isFilteredOwn), source: byTags },
    { uses: untagged.filter(({ payments }) => payments), source: paymentsBySums },
    { uses: tagged.filter(({ payments }) => payments), source: paymentsByTags },
  ]
  const statements = sums
    .filter(({ uses }) => uses.length > 0)
    .map(({ uses, source }) => sql`${sumFiltered(toParts(uses), source)} union all`)
  return sql`${sql.join(statements, sql` `)}`
}

const isFilteredOwn = ({ organizationId, filter, payments }: UsedBy) =>
  !organizationId && !payments && filter !== undefined

/** A table of sums, and what of its rows counts in a part of a window. */
interface SummedSource {
  table: 'usage_sum' | 'usage_tag_sum'
  isInPart: RawBuilder<unknown>
  tokens: RawBuilder<unknown>
  spent: RawBuilder<unknown>
}

/** The sums without tags, and those by tags. */
const bySums: SummedSource = {
  table: 'usage_sum',
  isInPart,
  tokens: summedTokens,
  spent: sql`sum(${usageCost}) filter (where ${ofPayer})`,
}
const byTags: SummedSource = {
  table: 'usage_tag_sum',
  isInPart,
  tokens: sql`u.tokens`,
  spent: sql`sum(u.cost) filter (where ${ofPayer})`,
}

const isPaidInPart = sql`
  u.account_id = part.payer_id and u.grain = part.grain
  and u.starts_at >= part.from_time and u.starts_at < part.to_time
  and (part.member_id is null or u.user_id = part.member_id)`

/** The same of what an organization pays: of its own connections the price counts, whatever was charged. */
const paymentsBySums: SummedSource = {
  table: 'usage_sum',
  isInPart: isPaidInPart,
  tokens: summedTokens,
  spent: sql`sum(u.cost - u.written_off + u.uncharged)`,
}
const paymentsByTags: SummedSource = {
  table: 'usage_tag_sum',
  isInPart: isPaidInPart,
  tokens: sql`u.tokens`,
  spent: sql`sum(u.cost + u.uncharged)`,
}

const sumFiltered = (
  parts: readonly Part[],
  { table, isInPart: isJoined, tokens, spent }: SummedSource,
) => {
  const asJson = (listOf: (filter: UsageFilter) => readonly string[] | null) =>
    parts.map(({ filter }) => {
      const list = filter ? listOf(filter) : null
      return list && JSON.stringify(list)
    })
  const tags = parts.map(({ filter }) => filter?.tags?.join(',') ?? null)
  return sql`
    select part.id, coalesce(sum(u.requests), 0)::bigint, coalesce(${spent}, 0)::bigint,
      coalesce(sum(${tokens}), 0)::bigint
    from unnest(
      ${partColumns(parts)},
      ${asJson(({ models }) => models)}::text[],
      ${asJson(({ providers }) => providers)}::text[],
      ${tags}::text[],
      ${parts.map(({ payments }) => payments?.organizationId ?? null)}::text[],
      ${parts.map(({ payments }) => payments?.memberId ?? null)}::text[]
    ) as part (${partNames}, models, providers, tags, payer_id, member_id)
    left join ${sql.table(table)} as u on ${isJoined}
      and (part.models is null or part.models::jsonb ? u.model
        or part.models::jsonb ? (split_part(u.model, '/', 1) || '/*'))
      and (part.providers is null or part.providers::jsonb ? split_part(u.model, '/', 1))
      ${table === 'usage_tag_sum' ? sql`and u.tags @> string_to_array(part.tags, ',')` : sql``}
    group by part.id`
}

/** The sum of an organization is that of all of its members. */
const ofOrganizations = (usedBy: readonly UsedBy[]) => {
  const sharedUses = usedBy.filter(({ organizationId, payments }) => organizationId && !payments)
  return sql`
    select used_by.id, coalesce(sum(s.requests), 0)::bigint, coalesce(sum(s.spent), 0)::bigint,
      coalesce(sum(s.input_tokens + s.output_tokens), 0)::bigint
    from unnest(
      ${sharedUses.map(({ id }) => id)}::text[],
      ${sharedUses.map(({ subjectId }) => subjectId)}::text[],
      ${sharedUses.map(({ organizationId }) => organizationId)}::text[],
      ${sharedUses.map(({ userId }) => userId)}::text[],
      ${sharedUses.map(({ window }) => new Date(window.fromMs))}::timestamptz[],
      ${sharedUses.map(({ window }) => new Date(window.toMs))}::timestamptz[]
    ) as used_by (id, subject_id, organization_id, user_id, from_time, to_time)
    left join organization_sum as s
      on s.organization_id = used_by.organization_id
      and (used_by.subject_id = used_by.organization_id or s.user_id = used_by.user_id)
      and s.day >= (used_by.from_time at time zone 'UTC')::date
      and s.day < (used_by.to_time at time zone 'UTC')::date
    group by used_by.id`
}
