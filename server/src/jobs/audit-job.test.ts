import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { runAudit, type AuditRun } from './audit-job'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { createCustomer, topUpOf } from '../../testing/ledger/customer'
import { allowLedgerChanges, protectLedger } from '../../testing/ledger/protection'
import { post } from '../ledger/post'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

/** It stands still: a budget is for ever, or nothing. */
const standing = () => 1000

/** A run, a minute after the last. */
async function run(budgetMs = 60_000): Promise<AuditRun | undefined> {
  await sql`update audit set ran_at = ran_at - interval '1 minute'`.execute(database.query)
  return runAudit({
    db: database.query,
    nowMs: standing,
    everyMs: 60_000,
    budgetMs,
    onFailure: (check, error) => {
      throw new Error(`${check} failed`, { cause: error })
    },
  })
}

/** The next round through all accounts begins. */
const anHourLater = () =>
  sql`update audit set round_began_at = round_began_at - interval '1 hour'`.execute(database.query)

const steal = (accountId: string, amount: bigint) =>
  sql`update credit_account set posted = posted - ${amount} where id = ${accountId}`.execute(
    database.query,
  )

async function blockedReason(accountId: string) {
  const { rows } = await sql<{ reason: string | null }>`
    select blocked_reason as reason from credit_account where id = ${accountId}`.execute(
    database.query,
  )
  return rows[0]?.reason
}

const clean = { violations: [], blocked: [], lifted: [] }

test('an account that was changed since is blocked by the next run, and lifted by the one after its repair', async () => {
  const [victim, neighbour] = [
    await createCustomer(database, 1000n),
    await createCustomer(database, 1000n),
  ]
  expect(await run()).toEqual(clean)
  await steal(victim, 1n)
  await post(database.query, topUpOf(neighbour, 1000n))
  const found = await run(0)
  expect(found?.blocked).toEqual([victim])
  expect(found?.violations.map(({ check }) => check)).toEqual(['q2a'])
  expect(await blockedReason(victim)).toBe('I2 (q2a): the balance is not the sum of the entries')
  expect(await blockedReason(neighbour)).toBeNull()
  // Still wrong: still blocked, and no news.
  expect(await run(0)).toMatchObject({ blocked: [], lifted: [] })
  await steal(victim, -1n)
  expect(await run(0)).toEqual({ ...clean, lifted: [victim] })
  expect(await blockedReason(victim)).toBeNull()
})

test('the hourly round finds changes that touch no account', async () => {
  const victim = await createCustomer(database, 1000n)
  await run()
  await run()
  const { query } = database
  const change = async (amount: bigint) => {
    await query.transaction().execute(async (trx) => {
      await allowLedgerChanges(trx)
      await sql`
        update ledger_entry set amount = amount + ${amount} where account_id = ${victim}`.execute(
        trx,
      )
      await protectLedger(trx)
    })
  }
  await change(1n)
  expect(await run()).toEqual(clean)
  await anHourLater()
  expect((await run())?.blocked).toEqual([victim])
  await change(-1n)
  expect((await run())?.lifted).toEqual([victim])
})

test('one of several concurrent nodes audits, and not twice a minute', async () => {
  await sql`update audit set ran_at = ran_at - interval '1 minute'`.execute(database.query)
  const runs = await Promise.all(
    [1, 2, 3].map(() =>
      runAudit({
        db: database.query,
        nowMs: standing,
        everyMs: 60_000,
        budgetMs: 0,
        onFailure: () => undefined,
      }),
    ),
  )
  expect(runs.filter((it) => it !== undefined)).toHaveLength(1)
})
