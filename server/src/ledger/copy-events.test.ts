import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import * as fc from '../../testing/property'
import { createTestEvent } from '../../testing/ledger/event'
import { openTestDatabase } from '../../testing/db/database'
import { toCharge } from './charge'
import { copyBooked, isCopyable, toLine } from './copy-events'
import { insertBooked } from './insert-events'
import { AlreadyBooked, insertNew } from './insert-new'
import type { UsageEvent } from './usage-event'
import { toRecord } from './usage-record'
import type { Database } from '../platform/db/database'
import { newId } from '../platform/db/id'

const stack = new AsyncDisposableStack()
let copied: Database
let inserted: Database

beforeAll(async () => {
  copied = await openTestDatabase(stack)
  inserted = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const bookable = (event: UsageEvent) => ({ record: toRecord(event), charge: toCharge(event) })

const tables = ['usage_event', 'usage_sum', 'organization_sum', 'audit_late'] as const

/** Reads all rows of the tables as text: in no order of their own. */
async function readAll({ query }: Database): Promise<Record<string, string[]>> {
  const read = async (table: string): Promise<[string, string[]]> => {
    const { rows } = await sql<{ row: string }>`
      select t::text as row from ${sql.table(table)} as t order by 1`.execute(query)
    return [table, rows.map(({ row }) => row)]
  }
  return Object.fromEntries(await Promise.all(tables.map(read)))
}

const empty = async ({ query }: Database) => {
  for (const table of tables) await sql`delete from ${sql.table(table)}`.execute(query)
}

const nowMs = Date.now()
const user = newId('user')
const transactions = [
  { id: user, transactionId: newId('txn') },
  { id: 'org_1', transactionId: newId('txn') },
]

const names = fc.constantFrom('fake/ok', 'a,b', 'ü☃ "x"', "o'hara", '', 'null', 'x,{y}')
const counts = fc.integer({ min: 0, max: 2 ** 40 })

const events = fc
  .record({
    accountId: fc.constantFrom(user, 'org_1', null),
    organizationId: fc.constantFrom('org_1', 'org_2', null),
    billingMode: fc.constantFrom('platform', 'org_pays', 'member_pays', 'free', 'byok'),
    outcome: fc.constantFrom('ok', 'cancelled', 'provider_error', 'rate_limited'),
    model: names,
    provider: names,
    keyId: fc.constantFrom('key_1', 'key_2'),
    streamed: fc.boolean(),
    cost: fc.bigInt({ min: 0n, max: 2n ** 50n }),
    input: counts,
    output: counts,
    durationMs: fc.integer({ min: 0, max: 1e9 }),
    firstTokenMs: fc.option(fc.integer({ min: 0, max: 1e6 })),
    agoMs: fc.integer({ min: 0, max: 600_000 }),
    pricing: fc.constantFrom<UsageEvent['pricing']>(
      null,
      {},
      { input: '150000000' },
      { input: '1', output: '2', tier: '128k, "long"' },
      { input: '1', output: '2', cached_input: '3' },
    ),
  })
  .map(({ input, output, agoMs, accountId, cost, ...fields }): UsageEvent => {
    const paid = accountId === null ? 0n : cost
    const base = createTestEvent(user)
    const tokens = { ...base.tokens, input, output }
    const startedAt = new Date(nowMs - agoMs).toISOString()
    return { ...base, ...fields, accountId, cost: paid, fromLease: paid, tokens, startedAt }
  })

const isTaken = (fields: Partial<UsageEvent>) =>
  isCopyable(bookable(createTestEvent(user, { cost: 5n, fromLease: 5n, ...fields })), Date.now())

describe('copied usage events', () => {
  test('leave the very rows and sums that inserted ones leave', async () => {
    let total = 0
    const property = fc.asyncProperty(fc.array(events, { maxLength: 40 }), async (batch) => {
      await Promise.all([empty(copied), empty(inserted)])
      const all = batch.map(bookable)
      const copyable = all.filter((event) => isCopyable(event, nowMs))
      total += copyable.length
      await copied.query
        .transaction()
        .execute((trx) => insertNew(trx, all, { accounts: transactions, canCopy: true }))
      await inserted.query.transaction().execute((trx) =>
        insertBooked(
          trx,
          all.map(({ record }) => record),
          transactions,
        ),
      )
      expect(await readAll(copied)).toEqual(await readAll(inserted))
    })
    await fc.assert(property, { numRuns: 40 })
    expect(total).toBeGreaterThan(100)
  })

  test('are nearly all events: the ones without escapes, rare columns or a start long ago', () => {
    expect(isTaken({})).toBe(true)
    expect(isTaken({ pricing: null, accountId: null, model: 'a,{b}' })).toBe(true)
    expect(isTaken({ model: 'a "b"' })).toBe(false)
    expect(isTaken({ fromLease: 4n })).toBe(false)
    expect(isTaken({ price: 1n })).toBe(false)
    expect(isTaken({ reason: 'provider_error' })).toBe(false)
    expect(isTaken({ startedAt: new Date(Date.now() - 2 * 3_600_000).toISOString() })).toBe(false)
  })

  test('reject the insert if they exist already, also beside others', async () => {
    await empty(copied)
    const [one, two, long] = [
      bookable(createTestEvent(user)),
      bookable(createTestEvent(user)),
      bookable(createTestEvent(user, { price: 1n })),
    ]
    const book = (batch: (typeof one)[]) =>
      copied.query
        .transaction()
        .execute((trx) => insertNew(trx, batch, { accounts: transactions, canCopy: true }))
    await book([one])
    const before = await readAll(copied)
    for (const batch of [[two, one], [long, two, one], [one]]) {
      await expect(book(batch)).rejects.toBeInstanceOf(AlreadyBooked)
      expect(await readAll(copied)).toEqual(before)
    }
    await copied.query.transaction().execute((trx) => copyBooked(trx, [], transactions))
    expect(await readAll(copied)).toEqual(before)
  })

  test('are lines of CSV, whose only object is a text', () => {
    expect(toLine('["1",null,"a, b",{"input":"2","output":"3"},null,5]', 'txn_1')).toBe(
      '"1",null,"a, b","{\\"input\\":\\"2\\",\\"output\\":\\"3\\"}",null,5,txn_1,0,0',
    )
    expect(toLine('["1",null,true]', null)).toBe('"1",null,true,null,0,0')
  })
})
