import { sql, type Kysely } from 'kysely'
import { percentageOf } from './limit-values'
import { readMemberBudgets } from '../../../ledger/member-budgets'
import type { Schema } from '../../../platform/db/schema'

interface SpentOnDay {
  organization_id: string
  day: string
  spent: bigint
}

/**
 * Reads how full the spending limits of an account in its organizations were at the end of days: the highest percentage
 * of the month so far, by today's limits. `days` are `YYYY-MM-DD`, newest first.
 */
export async function readMemberDays(
  db: Kysely<Schema>,
  userId: string,
  days: readonly string[],
): Promise<(day: string) => number> {
  const budgets = await readMemberBudgets(db, [userId])
  const limited = budgets.flatMap(({ organizationId: id, limit }) =>
    limit === null ? [] : [{ id, limit }],
  )
  const [newest, oldest] = [days[0], days.at(-1)]
  if (limited.length === 0 || newest === undefined || oldest === undefined) return () => 0
  const { rows } = await sql<SpentOnDay>`
    select organization_id, day::text as day, sum(spent)::bigint as spent from organization_sum
    where user_id = ${userId} and organization_id = any(${limited.map(({ id }) => id)}::text[])
      and day >= date_trunc('month', ${oldest}::timestamp)::date and day <= ${newest}::date
    group by 1, 2`.execute(db)
  const spentUpTo = (id: string, day: string) =>
    rows
      .filter(
        (row) => row.organization_id === id && row.day <= day && monthOf(row.day) === monthOf(day),
      )
      .reduce((sum, { spent }) => sum + spent, 0n)
  return (day) =>
    Math.max(...limited.map(({ id, limit }) => percentageOf(spentUpTo(id, day), limit)))
}

const monthOf = (day: string) => day.slice(0, 'YYYY-MM'.length)
