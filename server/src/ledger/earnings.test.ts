import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { findViolations } from './audit'
import { createTestEvent, recordForTests } from '../../testing/ledger/event'
import { allowLedgerChanges } from '../../testing/ledger/protection'
import { post } from './post'
import { settle } from './settle'
import { takeLease } from './take-lease'
import type { UsageEvent } from './usage-event'
import { toCharge } from './charge'
import { toOrphanRecord, recordColumns } from './usage-record'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { newId } from '../platform/db/id'

const stack = new AsyncDisposableStack()
let database: Database
let poolId: string

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(async () => {
  expect(await findViolations(database.query, {})).toEqual([])
  await stack.disposeAsync()
})

/** An account; whose it is makes no difference to the ledger. */
async function newAccount(credit = 1000n): Promise<string> {
  const id = newId('user')
  await sql`insert into credit_account (id, owner) values (${id}, ${`test:${id}`})`.execute(
    database.query,
  )
  const from = { kind: 'topup', house: 'house:topup', description: 'Test' } as const
  if (credit > 0n) {
    await post(database.query, {
      accountId: id,
      amount: credit,
      externalRef: `test:${id}`,
      ...from,
    })
  }
  return id
}

const postedOf = async (id: string) => {
  const { rows } = await sql<{ posted: bigint }>`
    select posted from credit_account where id = ${id}`.execute(database.query)
  return rows[0]?.posted
}

/** What the ledger has of the transactions that an account pays: who, how much, what is left. */
async function entriesOf(id: string) {
  const { rows } = await sql<{ accountId: string; amount: bigint; balanceAfter: bigint | null }>`
    select account_id as "accountId", amount, balance_after as "balanceAfter" from ledger_entry
    where transaction_id in (
      select e.transaction_id from ledger_entry e join ledger_transaction t on t.id = e.transaction_id
      where e.account_id = ${id} and e.amount < 0 and t.kind = 'usage'
    ) order by id`.execute(database.query)
  return rows.map(({ accountId, amount, balanceAfter }) => [accountId, amount, balanceAfter])
}

const ofMember = (memberId: string, cost: bigint, fields: Partial<UsageEvent> = {}) =>
  recordForTests(memberId, {
    billingMode: 'member_pays',
    organizationId: poolId,
    feeMillionths: 100_000,
    cost,
    ...fields,
  })

async function leased(accountId: string, amount: bigint): Promise<string> {
  const leaseId = newId('lease')
  const lease = { leaseId, accountId, nodeId: 'node', need: amount, wish: 0n }
  await takeLease(database.query, {
    generation: 0,
    isReclaiming: false,
    ...lease,
    nodes: 1,
    lifeSeconds: 60,
    demandSeconds: 2,
  })
  return leaseId
}

test.each([[true], [false]])(
  'the organization earns a member’s payment minus the fee, in one transaction; by a lease: %p',
  async (isLeased) => {
    poolId = await newAccount(0n)
    const member = await newAccount()
    const leaseId = isLeased ? await leased(member, 500n) : null
    const paid = (cost: bigint) =>
      ofMember(member, cost, { leaseId, fromLease: isLeased ? cost : 0n })
    const batch = [paid(101n), paid(99n)]
    for (let time = 0; time < 3; time++) await settle(database.query, batch)
    await Promise.all([batch, batch].map((again) => settle(database.query, again)))
    // The fee of each is rounded down: 10 and 9.
    expect(await entriesOf(member)).toEqual([
      [member, -200n, 800n],
      [poolId, 181n, 181n],
      ['house:revenue', 19n, null],
    ])
    expect([await postedOf(member), await postedOf(poolId)]).toEqual([800n, 181n])
  },
)

test('the house earns nothing without a fee', async () => {
  poolId = await newAccount(0n)
  const member = await newAccount()
  await settle(database.query, [ofMember(member, 50n, { feeMillionths: 0 })])
  expect(await entriesOf(member)).toEqual([
    [member, -50n, 950n],
    [poolId, 50n, 50n],
  ])
})

test('an organization in one batch pays from its earlier balance, and earns afterwards', async () => {
  poolId = await newAccount(30n)
  const [one, other] = [await newAccount(), await newAccount()]
  const pays = recordForTests(one, {
    accountId: poolId,
    billingMode: 'org_pays',
    organizationId: poolId,
    feeMillionths: 100_000,
    cost: 20n,
  })
  await settle(database.query, [ofMember(one, 100n), pays, ofMember(other, 200n)])
  expect(await postedOf(poolId)).toBe(30n - 20n + 90n + 180n)
  expect(await entriesOf(poolId)).toEqual([
    [poolId, -20n, 10n],
    ['house:revenue', 20n, null],
  ])
})

test('an amount that a member could not pay is not an earning', async () => {
  poolId = await newAccount(0n)
  const member = await newAccount(60n)
  await settle(database.query, [ofMember(member, 100n)])
  expect([await postedOf(member), await postedOf(poolId)]).toEqual([0n, 60n])
})

test('an attempt of a dead process earns nothing, until it is settled after all', async () => {
  poolId = await newAccount(0n)
  const member = await newAccount()
  const record = ofMember(member, 100n)
  await settle(database.query, [toOrphanRecord(record)])
  expect(await postedOf(poolId)).toBe(0n)
  await settle(database.query, [record])
  await settle(database.query, [record, toOrphanRecord(record)])
  expect([await postedOf(member), await postedOf(poolId)]).toEqual([900n, 90n])
})

test('a payment on the payer’s own connection is not an earning', async () => {
  poolId = await newAccount(0n)
  const member = await newAccount()
  for (const billingMode of ['byok', 'platform'] as const) {
    await settle(database.query, [ofMember(member, 10n, { billingMode })])
  }
  expect([await postedOf(member), await postedOf(poolId)]).toEqual([980n, 0n])
})

test('the house earns instead of an organization whose account is deleted', async () => {
  poolId = newId('user')
  const member = await newAccount()
  await settle(database.query, [ofMember(member, 10n)])
  expect(await entriesOf(member)).toEqual([
    [member, -10n, 990n],
    ['house:revenue', 10n, null],
  ])
})

test('books a journal from before earnings existed', async () => {
  const accountId = await newAccount()
  const event = createTestEvent(accountId, { cost: 10n })
  const whole: unknown = JSON.parse(recordForTests(accountId, event))
  const old = JSON.stringify(Array.isArray(whole) ? whole.slice(0, recordColumns.length - 2) : [])
  await settle(database.query, [old])
  const another = createTestEvent(accountId, { cost: 5n })
  const read = { record: recordForTests(accountId, another), charge: toCharge(another) }
  await settle(database.query, [old, read])
  expect(await postedOf(accountId)).toBe(985n)
})

test.each([
  ['it got too much', 'update ledger_entry set amount = 91 where account_id = $pool'],
  ['it got nothing', 'delete from ledger_entry where account_id = $pool'],
])('the audit finds missing earnings of an organization: %s', async (_name, damage) => {
  poolId = await newAccount(0n)
  const member = await newAccount()
  await settle(database.query, [ofMember(member, 100n)])
  const undone = new Error('undone')
  const damaged = database.query.transaction().execute(async (trx) => {
    await allowLedgerChanges(trx)
    await sql.raw(damage.replaceAll('$pool', `'${poolId}'`)).execute(trx)
    const found = await findViolations(trx, {})
    expect(found.filter(({ check }) => check === 'q4d')).toMatchObject([{ accountId: poolId }])
    throw undone
  })
  await damaged.catch((thrown: unknown) => {
    if (thrown !== undone) throw thrown
  })
})
