import { sql, type Kysely, type Transaction } from 'kysely'
import type { InvoiceLine } from './issue-document'
import type { Schema } from '../platform/db/schema'

/** Usage of earlier months that is booked late is on the document of a later one, for so many months. */
const lateMonths = 12

/** Returns the month that is so many months after another: `2026-12` after `2026-11`. */
export function addMonths(month: string, count: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number - 1 + count)).toISOString().slice(0, 7)
}

const startOf = (month: string) => new Date(`${month}-01T00:00:00Z`)

interface Line {
  month: string
  model: string
  requests: bigint
  input_tokens: bigint
  output_tokens: bigint
  amount: bigint
}

interface MonthOf {
  accountId: string
  month: string
  /** The first month that has documents. */
  firstMonth: string
}

/**
 * Reads what a balance paid for usage in a month by model, in UTC, and of the months before what no document has: the
 * figures of the statements, less what was billed.
 */
export async function readMonthLines(
  trx: Transaction<Schema>,
  { accountId, month, firstMonth }: MonthOf,
): Promise<InvoiceLine[]> {
  const earliest = addMonths(month, -lateMonths)
  const from = earliest > firstMonth ? earliest : firstMonth
  const { rows } = await sql<Line>`
    with used as (
      select to_char(starts_at at time zone 'UTC', 'YYYY-MM') as month, model,
        sum(requests) as requests,
        sum(input_tokens + cached_input_tokens + cache_write_tokens + audio_input_tokens) as input_tokens,
        sum(output_tokens + reasoning_tokens + audio_output_tokens) as output_tokens,
        sum(cost - written_off) as amount
      from usage_sum
      where account_id = ${accountId} and grain = 'day'
        and starts_at >= ${startOf(from)} and starts_at < ${startOf(addMonths(month, 1))}
      group by 1, 2
    ), billed as (
      select month, model, sum(requests) as requests, sum(input_tokens) as input_tokens,
        sum(output_tokens) as output_tokens, sum(amount) as amount
      from invoice_line
      where account_id = ${accountId} and month >= ${from} and month <= ${month}
      group by 1, 2
    )
    select used.month, used.model,
      (used.requests - coalesce(billed.requests, 0))::bigint as requests,
      (used.input_tokens - coalesce(billed.input_tokens, 0))::bigint as input_tokens,
      (used.output_tokens - coalesce(billed.output_tokens, 0))::bigint as output_tokens,
      (used.amount - coalesce(billed.amount, 0))::bigint as amount
    from used left join billed on billed.month = used.month and billed.model = used.model
    where used.amount <> coalesce(billed.amount, 0)
    order by used.month desc, 6 desc, used.model`.execute(trx)
  return rows.map((row) => ({
    ...row,
    description: row.month === month ? row.model : `${row.model}, ${row.month}, booked later`,
  }))
}

/** Lists accounts and organizations whose balance paid for usage in a month that has no document, by id. */
export async function findUnbilled(
  db: Kysely<Schema>,
  { month, after, limit }: { month: string; after: string; limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ account_id: string }>`
    select distinct account_id from usage_sum
    where grain = 'day' and starts_at >= ${startOf(month)} and starts_at < ${startOf(addMonths(month, 1))}
      and account_id > ${after} and cost > written_off
      and not exists (
        select from invoice
        where invoice.account_id = usage_sum.account_id and kind = 'usage' and subject = ${month}
      )
    order by account_id limit ${limit}`.execute(db)
  return rows.map(({ account_id: id }) => id)
}
