import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql, type KyselyPlugin } from 'kysely'
import { createTestEvent } from '../../testing/ledger/event'
import { createCustomer, topUpOf } from '../../testing/ledger/customer'
import { openTestDatabase } from '../../testing/db/database'
import { toCharge } from './charge'
import { post } from './post'
import { settle } from './settle'
import { takeLease } from './take-lease'
import { toRecord } from './usage-record'
import type { Database } from '../platform/db/database'
import { newId } from '../platform/db/id'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

/** Counts the statements of a query builder, without those that begin and end transactions. */
class StatementCounter implements KyselyPlugin {
  count = 0

  transformQuery: KyselyPlugin['transformQuery'] = ({ node }) => {
    this.count += 1
    return node
  }

  transformResult: KyselyPlugin['transformResult'] = async ({ result }) => result
}

test('a booking without COPY sends four statements: two lock, one inserts, one stores', async () => {
  const accountId = await createCustomer(database)
  await post(database.query, topUpOf(accountId, 1000n))
  const leaseId = newId('att')
  const claim = { leaseId, accountId, generation: 0, need: 500n, wish: 500n, isReclaiming: false }
  const taker = { nodeId: 'node_1', nodes: 1, lifeSeconds: 60, demandSeconds: 2 }
  await takeLease(database.query, { ...claim, ...taker })
  const charged = { cost: 20n, fromLease: 20n, leaseId }
  const batch = [1, 2, 3]
    .map(() => createTestEvent(accountId, charged))
    .map((event) => ({ record: toRecord(event), charge: toCharge(event) }))
  const counter = new StatementCounter()
  await settle(database.query.withPlugin(counter), batch, { canCopy: false })
  expect(counter.count).toBe(4)
  const { rows } = await sql<{ accountId: string; amount: bigint; balanceAfter: bigint | null }>`
    select account_id as "accountId", amount, balance_after as "balanceAfter" from ledger_entry
    join ledger_transaction as booked on booked.id = transaction_id
    where kind = 'usage' order by amount`.execute(database.query)
  expect(rows).toEqual([
    { accountId, amount: -60n, balanceAfter: 940n },
    { accountId: 'house:revenue', amount: 60n, balanceAfter: null },
  ])
})
