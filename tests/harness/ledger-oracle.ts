import type { SQL } from 'bun'
import { expect } from 'bun:test'
import { eventually, WaitTimeoutError } from '../../server/testing/eventually'

/** The checks of contract 13.2 that need nothing but the database; each returns no row. */
export const checks = {
  q1: `select transaction_id as id from ledger_entry group by 1 having sum(amount) <> 0`,
  q2a: `select a.id from credit_account a left join ledger_entry e on e.account_id = a.id
    where a.owner not like 'house:%'
    group by a.id having a.posted <> coalesce(sum(e.amount), 0)`,
  q2b: `select id::text from (select id, balance_after, sum(amount)
      over (partition by account_id order by id) as run
      from ledger_entry where balance_after is not null) x where balance_after <> run`,
  q3: `select a.id from credit_account a
    left join credit_lease l on l.account_id = a.id and l.state = 'active'
    where a.owner not like 'house:%' group by a.id
    having a.leased <> coalesce(sum(l.amount - l.spent), 0) or a.leased not between 0 and a.posted`,
  q4a: `select l.id from credit_lease l left join usage_event u on u.lease_id = l.id group by l.id
    having l.spent <> coalesce(sum(u.from_lease), 0) or l.spent > l.amount`,
  q4b: `select u.transaction_id as id from usage_event u where u.from_lease + u.from_balance > 0
    group by u.transaction_id, u.account_id
    having sum(u.from_lease + u.from_balance) <> -coalesce((select sum(e.amount)
      from ledger_entry e
      where e.transaction_id = u.transaction_id and e.account_id = u.account_id), 0)`,
  q4c: `select t.id from ledger_transaction t where t.kind = 'usage'
    and not exists (select 1 from usage_event u where u.transaction_id = t.id)`,
  q7: `select id from credit_account where owner not like 'house:%' and posted < 0`,
  q8: `select id from credit_lease
    where state = 'active' and expires_at < now() - interval '60 seconds'`,
} as const

/** A request whose client saw it end well, and what it must have cost. Nano-dollars. */
export interface CompletedRequest {
  requestId: string
  cost: bigint
}

export interface Expected {
  /** q5: each is in the ledger, with this very amount. */
  completed?: readonly CompletedRequest[]
  /** Attempts that a provider was asked, as it counted them. q6: none is without an event. */
  attempts?: number
  /** What the house may bear, in nano-dollars. */
  writtenOff?: bigint
}

/** The names of the checks that find something. */
export async function findings(sql: SQL): Promise<string[]> {
  const found: string[] = []
  for (const [name, text] of Object.entries(checks)) {
    const rows: { id: string }[] = await sql.unsafe(text)
    if (rows.length > 0) found.push(`${name}: ${rows.map(({ id }) => id).join(' ')}`)
  }
  return found
}

/** The settled cost of each request that is booked. */
async function costs(sql: SQL): Promise<Map<string, bigint>> {
  const rows: { request_id: string; cost: string }[] = await sql`
    select request_id, sum(cost) as cost from usage_event where state = 'settled' group by 1`
  return new Map(rows.map(({ request_id, cost }) => [request_id, BigInt(cost)]))
}

/** Runs q1 to q8. To be called at the end of every suite, once what ran is booked. */
export async function expectSoundLedger(sql: SQL, expected: Expected = {}): Promise<void> {
  const { completed = [], attempts = 0, writtenOff = 0n } = expected
  let booked = await costs(sql)
  const missing = () => completed.filter(({ requestId }) => !booked.has(requestId))
  // A gateway that stands still books late; what it never books is reported below.
  await eventually(async () => {
    if (missing().length > 0) booked = await costs(sql)
    return missing().length === 0
  }).catch((thrown: unknown) => {
    if (!(thrown instanceof WaitTimeoutError)) throw thrown
  })
  expect(await findings(sql)).toEqual([])
  const wrong = completed.filter(({ requestId, cost }) => booked.get(requestId) !== cost)
  expect(wrong).toEqual([])
  const [sums] = await sql`
    select count(*) as events, coalesce(sum(written_off), 0) as "writtenOff" from usage_event`
  expect(Number(sums.events)).toBeGreaterThanOrEqual(attempts)
  expect(BigInt(sums.writtenOff)).toBeLessThanOrEqual(writtenOff)
}
