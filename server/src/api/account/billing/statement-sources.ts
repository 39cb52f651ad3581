import { sql, type Transaction } from 'kysely'
import type { BilledAccount } from './billed-account'
import type { Intervals } from './intervals'
import { splitHours, usageColumns } from './quarter-hours'
import { checkoutOf } from './transactions'
import { tokensIn, tokensOut } from './sum-source'
import { toSummedParts } from '../../../ledger/summed-parts'
import type { Schema } from '../../../platform/db/schema'

type Db = Transaction<Schema>

/** The usage of one day and model that a balance paid. */
export interface ModelUsage {
  /** The number of the day in its month, from 1. */
  day: number
  model: string
  requests: bigint
  input: bigint
  output: bigint
  /** Nano-dollars. */
  cost: bigint
}

/** A change of a balance other than by usage. Amounts are nano-dollars. */
export interface Movement {
  day: number
  kind: string
  amount: bigint
  description: string
  /** Null for the earnings of a day. */
  transaction_id: string | null
  reference: string | null
  created_at: Date | null
}

/** The sums of usage of a balance: of an account, its own requests alone, which the index of users finds. */
export const usageOf = ({ id, organizationId }: BilledAccount) =>
  organizationId === null
    ? sql`usage_sum.user_id = ${id} and usage_sum.account_id = ${id}`
    : sql`usage_sum.account_id = ${id}`

export const paid = sql`(usage_sum.cost - usage_sum.written_off)`

/** The sums of usage, split where the days of a time zone begin. */
export const splitUsage = (intervals: Pick<Intervals, 'quarters'>) =>
  splitHours(sql`usage_sum`, usageColumns, intervals)

const hourMs = 3_600_000

/** Reads usage by day and model, of models that cost something or had requests. */
export async function readUsage(
  db: Db,
  account: BilledAccount,
  intervals: Intervals,
): Promise<ModelUsage[]> {
  const { starts, end, grain } = intervals
  const { rows } = await sql<ModelUsage>`
    select width_bucket(starts_at, ${starts}::timestamptz[]) as day, model,
      sum(requests)::bigint as requests, sum(${tokensIn})::bigint as input,
      sum(${tokensOut})::bigint as output, sum(${paid})::bigint as cost
    from ${splitUsage(intervals)}
    where ${usageOf(account)} and grain = ${grain} and starts_at >= ${starts[0]} and starts_at < ${end}
    group by 1, 2 order by 1, 6 desc, 3 desc, 2`.execute(db)
  return rows
}

/** Sums what a balance paid for usage from a moment on, in nano-dollars. */
export async function sumUsageSince(db: Db, account: BilledAccount, since: Date): Promise<bigint> {
  const fromMs = since.getTime()
  const hourAt = Math.ceil(fromMs / hourMs) * hourMs
  // The rest of an hour that a time zone splits.
  const quarters = { grain: 'quarter_hour', fromMs, toMs: hourAt }
  const parts = [quarters, ...toSummedParts({ fromMs: hourAt, toMs: Infinity })]
  const { rows } = await sql<{ cost: bigint }>`
    select coalesce(sum(${paid}), 0)::bigint as cost
    from unnest(
      ${parts.map(({ grain }) => grain)}::text[],
      ${parts.map(({ fromMs }) => new Date(fromMs))}::timestamptz[],
      ${parts.map(({ toMs }) => new Date(toMs))}::timestamptz[]
    ) as part (part_grain, from_time, to_time)
    join usage_sum on grain = part_grain and starts_at >= from_time and starts_at < to_time
    where ${usageOf(account)}`.execute(db)
  return rows[0]?.cost ?? 0n
}

/**
 * Selects the entries of an account from a moment on that are no payments for its own usage, as `moved`: by the two
 * indexes that leave out such payments. What is bought or granted adds.
 */
const movedSince = ({ id }: BilledAccount, since: Date) => sql`
  moved as (
    select e.id, e.transaction_id, e.amount, e.created_at, t.kind, t.description, t.external_ref
    from ledger_entry as e join ledger_transaction as t on t.id = e.transaction_id
    where e.account_id = ${id} and e.account_id not like 'house:%' and e.amount > 0
      and e.created_at >= ${since}
    union all
    select e.id, e.transaction_id, e.amount, e.created_at, t.kind, t.description, t.external_ref
    from ledger_transaction as t join ledger_entry as e on e.transaction_id = t.id
    where t.kind in ('refund', 'dispute', 'adjust', 'writeoff') and t.created_at >= ${since}
      and e.account_id = ${id} and e.amount < 0
  )`

/** Lists the changes of a balance other than by usage, ascending; the earnings of a day are one, its last. */
export async function readMovements(
  db: Db,
  account: BilledAccount,
  { starts, end }: Intervals,
): Promise<Movement[]> {
  const day = sql`width_bucket(created_at, ${starts}::timestamptz[])`
  const { rows } = await sql<Movement>`
    with ${movedSince(account, starts[0] ?? end)}
    select * from (
      select ${day} as day, kind, amount, description, transaction_id,
        ${checkoutOf('moved')} as reference, created_at, id as place
      from moved where kind <> 'usage' and created_at < ${end}
      union all
      select ${day}, 'earnings', sum(amount)::bigint, 'Earned by connections', null, null, null, null
      from moved where kind = 'usage' and created_at < ${end}
      group by 1
    ) as listed
    order by day, created_at nulls last, place`.execute(db)
  return rows
}

/** Sums the changes of a balance other than by usage from a moment on, in nano-dollars. */
export async function sumMovementsSince(
  db: Db,
  account: BilledAccount,
  since: Date,
): Promise<bigint> {
  const { rows } = await sql<{ amount: bigint }>`
    with ${movedSince(account, since)}
    select coalesce(sum(amount), 0)::bigint as amount from moved`.execute(db)
  return rows[0]?.amount ?? 0n
}

/** Counts requests without a payer in a period: of free models, and of those that no one was charged for. */
export async function countFree(
  db: Db,
  { id, organizationId }: BilledAccount,
  intervals: Intervals,
): Promise<bigint> {
  // Requests without a payer are their callers', not an organization's.
  if (organizationId !== null) return 0n
  const { starts, end, grain } = intervals
  const { rows } = await sql<{ requests: bigint }>`
    select coalesce(sum(requests), 0)::bigint as requests from ${splitUsage(intervals)}
    where user_id = ${id} and account_id = '' and grain = ${grain}
      and starts_at >= ${starts[0]} and starts_at < ${end}`.execute(db)
  return rows[0]?.requests ?? 0n
}

/** Reads the balance, and when the account was created. */
export async function readAccount(
  db: Db,
  { id }: BilledAccount,
): Promise<{ posted: bigint; created_at: Date } | undefined> {
  const { rows } = await sql<{ posted: bigint; created_at: Date }>`
    select posted, created_at from credit_account where id = ${id}`.execute(db)
  return rows[0]
}
