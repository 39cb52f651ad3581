import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Schema } from '../platform/db/schema'

/**
 * The cost of usage in `usage_sum`, in nano-dollars: what was charged, whichever account paid, and what the operator paid
 * for accounts whose plan has `house_pays`. Summed by `user_id` it is the account's *usage cost*; of its rows, those
 * whose `account_id` is the account itself are what it *paid*. `request_sum` has the same two as `cost` and `own_cost`.
 * Source: contract 11.5.
 */
export const usageCost = sql<bigint>`(cost - written_off + house_paid)`

/** The part of a usage cost that one account paid, in nano-dollars. */
interface PaidPart {
  payer: 'personal' | 'organization' | 'operator'
  /** Null unless an organization paid. */
  organizationId: string | null
  /** The organization's name; null where it was deleted. */
  name: string | null
  cost: bigint
}

/** The sums of one grain that start in a period; its end is exclusive. */
interface SummedPeriod {
  grain: 'hour' | 'day'
  start: Date
  end: Date
  /** The sums, under the name `usage_sum`, where others than the table's are read. */
  table?: RawBuilder<unknown>
}

/** The usage of an account, whichever account paid; or what an organization paid, whichever member caused it. */
type CostOf = { userId: string } | { organizationId: string }

/** Splits the cost of usage by who paid it, the highest amount first; who paid nothing is left out. */
export async function readPaidParts(
  db: Kysely<Schema>,
  of: CostOf,
  { grain, start, end, table = sql`usage_sum` }: SummedPeriod,
): Promise<PaidPart[]> {
  const isOf = 'userId' in of ? sql`user_id = ${of.userId}` : sql`account_id = ${of.organizationId}`
  const { rows } = await sql<PaidPart>`
    select paid.payer, paid.organization_id as "organizationId", organization.name, paid.cost
    from (
      select part.payer, part.organization_id, sum(part.cost)::bigint as cost
      from ${table} cross join lateral (
        values
          (case when account_id = user_id then 'personal' else 'organization' end,
            case when account_id = user_id then null else account_id end,
            usage_sum.cost - written_off),
          ('operator', null, house_paid)
      ) as part (payer, organization_id, cost)
      where ${isOf} and grain = ${grain} and starts_at >= ${start} and starts_at < ${end}
      group by 1, 2
      having sum(part.cost) > 0
    ) as paid
    left join organization on organization.id = paid.organization_id
    order by paid.cost desc, paid.payer, paid.organization_id`.execute(db)
  return rows
}
