import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import * as fc from '../../../../testing/property'
import type { BilledAccount } from './billed-account'
import { readBreakdown, toAccountFigures } from './breakdown'
import { sourceOf } from './sum-source'
import { readStatement, type MonthStatement } from './statement'
import { listDates } from './statement-month'
import { openTestDatabase } from '../../../../testing/db/database'
import { recordForTests } from '../../../../testing/ledger/event'
import { newAccount, moveAt, type PastMovement } from '../../../../testing/ledger/past-movement'
import { settle } from '../../../ledger/settle'
import type { Database } from '../../../platform/db/database'
import { toGrainStart } from '../../../platform/db/grains'
import { newId } from '../../../platform/db/id'

/** In November in all of the zones below. */
const nowMs = Date.parse('2026-11-30T10:00:00Z')
const hourMs = 3_600_000
const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const read = (account: BilledAccount, month: string, zone = 'UTC') =>
  readStatement(database.query, account, { filter: { month, time_zone: zone }, nowMs })

const toNanos = (amount: number) => BigInt(Math.round(amount * 1e9))

interface Used {
  atMs: number
  model: string
  cost: number
}

/** Books usage of an account, with the sums that its request logs have. */
async function use({ id, organizationId }: BilledAccount, uses: readonly Used[]) {
  const userId = organizationId === null ? id : newId('user')
  await settle(
    database.query,
    uses.map(({ atMs, model, cost }) =>
      recordForTests(id, {
        userId,
        organizationId,
        model,
        cost: BigInt(cost),
        startedAt: new Date(atMs).toISOString(),
      }),
    ),
  )
  // A log's cost is what was charged; the house bears the rest.
  await sql`
    insert into request_sum (grain, starts_at, user_id, key_id, model, requests, successes, failures,
      cancellations, input_tokens, output_tokens, latency_ms, cost, own_cost, peak_concurrent)
    select grain, ${toGrainStart('started_at')}, user_id, key_id, model, count(*), count(*), 0, 0,
      12 * count(*), 16 * count(*), 0, sum(cost - written_off),
      coalesce(sum(cost - written_off) filter (where account_id = user_id), 0), 1
    from usage_event cross join unnest(array['quarter_hour', 'hour', 'day']) as grain
    where account_id = ${id}
    group by 1, 2, 3, 4, 5`.execute(database.query)
}

/** The balance of an account at the first moment of a month, by the ledger's entries and usage events. */
async function balanceBefore({ id }: BilledAccount, { start }: { start: string }): Promise<bigint> {
  const { rows } = await sql<{ balance: bigint }>`
    select (
      coalesce((
        select sum(e.amount) from ledger_entry as e join ledger_transaction as t on t.id = e.transaction_id
        where e.account_id = ${id} and (t.kind <> 'usage' or e.amount > 0) and e.created_at < ${start}
      ), 0) - coalesce((
        select sum(cost - written_off) from usage_event where account_id = ${id} and started_at < ${start}
      ), 0)
    )::bigint as balance`.execute(database.query)
  return rows[0]?.balance ?? 0n
}

/** What an account paid by day of a time zone and model, by its usage events. */
async function eventsByDay({ id }: BilledAccount, { period, month }: MonthStatement) {
  const { rows } = await sql<{ day: string; model: string; cost: bigint; requests: bigint }>`
    select to_char(started_at at time zone ${period.time_zone}, 'YYYY-MM-DD') as day, model,
      sum(cost - written_off)::bigint as cost, count(*) as requests
    from usage_event where account_id = ${id}
    group by 1, 2 having sum(cost - written_off) > 0 order by 1, 3 desc, 4 desc, 2`.execute(
    database.query,
  )
  return rows.filter(({ day }) => day.startsWith(month))
}

const usageByDay = ({ lines }: MonthStatement) =>
  lines.flatMap(({ date, usage }) =>
    (usage?.models ?? []).map(({ model, cost, requests }) => ({
      day: date,
      model,
      cost,
      requests,
    })),
  )

/** What the breakdown says that an account paid, by the day of its interval and the model. */
async function breakdownByDay(account: BilledAccount, { month, period }: MonthStatement) {
  const dates = listDates(month)
  const source = { ...sourceOf(account), toFigures: toAccountFigures }
  const breakdown = await readBreakdown(database.query, source, {
    filter: {
      start_date: dates[0] ?? '',
      end_date: dates.at(-1) ?? '',
      time_zone: period.time_zone,
      granularity: 'day',
      group_by: 'model',
      limit: 100,
    },
    nowMs,
  })
  const costs = new Map<string, bigint>()
  for (const { interval, cost } of breakdown.time_series) {
    const date = dates[interval] ?? ''
    costs.set(date, (costs.get(date) ?? 0n) + toNanos(cost))
  }
  return [...costs].filter(([, cost]) => cost > 0n)
}

function expectSums({ opening, closing, lines }: MonthStatement) {
  let balance = opening
  for (const line of lines) {
    balance += line.amount
    expect(line.balance).toBe(balance)
    if (line.usage) {
      const costs = line.usage.models.reduce((sum, { cost }) => sum + cost, 0n)
      expect([line.amount, line.usage.cost]).toEqual([-costs, costs])
    }
  }
  expect(closing).toBe(balance)
}

const hourZones = ['UTC', 'Asia/Tokyo', 'America/Los_Angeles', 'Europe/Berlin', 'Pacific/Auckland']
const zones = [...hourZones, 'Asia/Kolkata', 'Asia/Kathmandu']
const kinds = ['topup', 'bonus', 'refund', 'dispute', 'adjust', 'earned'] as const
const hour = fc.integer({
  min: Date.parse('2026-09-20') / hourMs,
  max: Math.floor(nowMs / hourMs) - 1,
})
const movements = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds),
    atMs: hour.map((at) => at * hourMs),
    amount: fc.integer({ min: -2e9, max: 4e9 }).filter((amount) => amount !== 0),
  }),
  { maxLength: 8 },
)
const uses = fc.array(
  fc.record({
    atMs: fc.tuple(hour, fc.nat(hourMs - 1)).map(([at, ms]) => at * hourMs + ms),
    model: fc.constantFrom('fake/one', 'fake/two', 'other/one'),
    cost: fc.oneof(fc.constant(0), fc.nat(3e9)),
  }),
  { maxLength: 20 },
)

interface Moved {
  kind: (typeof kinds)[number]
  atMs: number
  amount: number
}

/** Only corrections and reversals, which can be undone, have both signs. */
const toPastMovement = ({ kind, atMs, amount }: Moved): PastMovement => {
  const hasBoth = kind === 'adjust' || kind === 'refund' || kind === 'dispute'
  const change = BigInt(hasBoth ? amount : Math.abs(amount))
  return { kind: kind === 'earned' ? 'usage' : kind, atMs, amount: change }
}

test('opening balance and lines are the closing balance, and days are those of the ledger and of the breakdown', async () => {
  await fc.assert(
    fc.asyncProperty(
      movements,
      uses,
      fc.record({ zone: fc.constantFrom(...zones), isPool: fc.boolean() }),
      async (moved, used, { zone, isPool }) => {
        const id = await newAccount(database)
        const account = { id, organizationId: isPool ? id : null }
        const first = { kind: 'topup', atMs: Date.parse('2026-09-10'), amount: 16_000_000_000n }
        for (const movement of [first, ...moved.map(toPastMovement)])
          await moveAt(database, id, movement)
        await use(account, used)
        const months = [await read(account, '2026-10', zone), await read(account, '2026-11', zone)]
        for (const statement of months) {
          expectSums(statement)
          expect(statement.opening).toBe(await balanceBefore(account, statement.period))
          expect(usageByDay(statement)).toEqual(await eventsByDay(account, statement))
          const days = statement.lines.filter(({ type }) => type === 'usage')
          expect(days.map(({ date, amount }) => [date, -amount])).toEqual(
            await breakdownByDay(account, statement),
          )
        }
        expect(months[0]?.closing).toBe(months[1]?.opening)
        const { rows } = await sql<{ posted: bigint }>`
          select posted from credit_account where id = ${id}`.execute(database.query)
        expect(months[1]?.closing).toBe(rows[0]?.posted)
      },
    ),
    { numRuns: 25 },
  )
}, 120_000)

const at = (time: string) => Date.parse(`2026-11-${time}Z`)

test('a day ends with one line of usage, after a line for each other change', async () => {
  const id = await newAccount(database)
  const account = { id, organizationId: null }
  await moveAt(database, id, { kind: 'topup', atMs: at('03T10:00:00'), amount: 5_000_000_000n })
  await moveAt(database, id, { kind: 'adjust', atMs: at('03T12:00:00'), amount: -1_000_000_000n })
  await moveAt(database, id, { kind: 'usage', atMs: at('03T13:00:00'), amount: 100n })
  await moveAt(database, id, { kind: 'usage', atMs: at('03T14:00:00'), amount: 200n })
  await use(account, [
    { atMs: at('03T09:00:00'), model: 'fake/one', cost: 5 },
    { atMs: at('03T11:00:00'), model: 'fake/one', cost: 6 },
    { atMs: at('03T11:00:00'), model: 'fake/two', cost: 90 },
    { atMs: at('04T00:00:00'), model: 'fake/free', cost: 0 },
    { atMs: at('04T00:00:00'), model: 'fake/one', cost: 1 },
  ])
  const statement = await read(account, '2026-11')
  expect(statement.lines).toMatchObject([
    { type: 'purchase', date: '2026-11-03', amount: 5_000_000_000n, usage: null },
    { type: 'adjustment', at: new Date(at('03T12:00:00')), balance: 4_000_000_000n },
    { type: 'earnings', at: null, amount: 300n, balance: 4_000_000_300n },
    {
      type: 'usage',
      at: null,
      amount: -101n,
      balance: 4_000_000_199n,
      usage: {
        requests: 3n,
        models: [
          { model: 'fake/two', requests: 1n, cost: 90n },
          { model: 'fake/one', requests: 2n, cost: 11n },
        ],
      },
    },
    { type: 'usage', date: '2026-11-04', amount: -1n },
  ])
  expect(statement.uncharged).toBe(1n)
})

test('usage that an organization or the operator paid is named and moves no balance', async () => {
  const id = await newAccount(database)
  const poolId = await newAccount(database)
  await moveAt(database, poolId, { kind: 'topup', atMs: at('01T10:00:00'), amount: 1000n })
  const startedAt = new Date(at('05T10:00:00')).toISOString()
  await settle(database.query, [
    recordForTests(poolId, { userId: id, cost: 70n, startedAt }),
    recordForTests(id, { billingMode: 'house', price: 30n, startedAt }),
    recordForTests(id, { billingMode: 'free', accountId: null, startedAt }),
  ])
  const statement = await read({ id, organizationId: null }, '2026-11')
  expect(statement).toMatchObject({ opening: 0n, closing: 0n, lines: [], uncharged: 2n })
  expect(statement.other_payers).toMatchObject([
    { payer: 'organization', organization_id: poolId, cost: 70e-9 },
    { payer: 'operator', cost: 30e-9 },
  ])
})

test('days in UTC go back without end, those of other zones as long as hours are kept', async () => {
  const id = await newAccount(database)
  const account = { id, organizationId: null }
  await moveAt(database, id, { kind: 'topup', atMs: Date.parse('2026-01-01'), amount: 100n })
  await use(account, [{ atMs: Date.parse('2026-02-28T23:59:59Z'), model: 'fake/one', cost: 40 }])
  expect(await read(account, '2026-02')).toMatchObject({
    opening: 100n,
    closing: 60n,
    in_progress: false,
    lines: [{ date: '2026-02-28', amount: -40n }],
  })
  await expect(read(account, '2026-02', 'Asia/Tokyo')).rejects.toMatchObject({ param: 'time_zone' })
})

test.each([
  ['a month to come', ['2026-12', 'UTC'], 'month'],
  ['an unknown zone', ['2026-11', 'Nowhere/None'], 'time_zone'],
] as const)('%s is rejected', async (_, [month, zone], param) => {
  const account = { id: await newAccount(database), organizationId: null }
  await expect(read(account, month, zone)).rejects.toMatchObject({ code: 'invalid_request', param })
})

test('the current month is that of the time zone', async () => {
  const account = { id: await newAccount(database), organizationId: null }
  const monthIn = async (zone: string) => {
    const reading = {
      filter: { month: undefined, time_zone: zone },
      nowMs: Date.parse('2026-11-30T20:00:00Z'),
    }
    return (await readStatement(database.query, account, reading)).month
  }
  expect([await monthIn('UTC'), await monthIn('Asia/Tokyo')]).toEqual(['2026-11', '2026-12'])
})
