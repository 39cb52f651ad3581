import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { findViolations } from './audit'
import { createCustomer } from '../../testing/ledger/customer'
import { dayWaitMs, untilDayLasts } from '../../testing/calendar'
import { recordForTests } from '../../testing/ledger/event'
import { allowLedgerChanges, protectLedger } from '../../testing/ledger/protection'
import { purgeOldRows } from './retention'
import { settle } from './settle'
import { readWindows } from './window-sums'
import { findWindow } from '../platform/time-window'
import { takeLease } from './take-lease'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { newId } from '../platform/db/id'
import { makePartitions, partitionDays, getToday } from '../platform/db/partitions'

const dayMs = 86_400_000
const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  await untilDayLasts()
  database = await openTestDatabase(stack)
}, 30_000 + dayWaitMs)
afterAll(() => stack.disposeAsync())

const eventOf = (accountId: string, startedAt: Date, leaseId: string | null) =>
  recordForTests(accountId, {
    leaseId,
    startedAt: startedAt.toISOString(),
    cost: 10n,
    fromLease: leaseId ? 10n : 0n,
  })

const placesOf = async (accountId: string) => {
  const { rows } = await sql<{ place: string }>`
    select tableoid::regclass::text as place from usage_event
    where account_id = ${accountId} order by started_at`.execute(database.query)
  return rows.map(({ place }) => place)
}

const nameOf = (day: Date) => `usage_event_${day.toISOString().slice(0, 10).replaceAll('-', '')}`

const failures: unknown[] = []
const make = () =>
  makePartitions(database.query, 'usage_event', (name, error) => failures.push(name, error))

test('creates partitions for today and three days ahead, and moves today’s events into theirs', async () => {
  const { query } = database
  const accountId = await createCustomer(database, 1000n)
  const day = await getToday(query)
  await settle(query, [eventOf(accountId, day, null)])
  expect(await placesOf(accountId)).toEqual(['usage_event_other'])
  await make()
  await make()
  expect(failures).toEqual([])
  const days = [0, 1, 2, 3].map((ahead) => nameOf(new Date(day.getTime() + ahead * dayMs)))
  expect([...(await partitionDays(query, 'usage_event')).keys()]).toEqual(days)
  const last = new Date(day.getTime() + 4 * dayMs)
  await settle(query, [
    eventOf(accountId, new Date(day.getTime() + dayMs - 1), null),
    eventOf(accountId, new Date(day.getTime() + dayMs), null),
    eventOf(accountId, last, null),
  ])
  const [first = '', second = ''] = days
  expect(await placesOf(accountId)).toEqual([first, first, second, 'usage_event_other'])
})

test('books an event once that is sent again, in any partition', async () => {
  const { query } = database
  const accountId = await createCustomer(database, 1000n)
  const day = (await getToday(query)).getTime()
  const events = [0, 1, 5].map((ahead) => eventOf(accountId, new Date(day + ahead * dayMs), null))
  await settle(query, events)
  for (const event of events) await settle(query, [event])
  await settle(query, events.toReversed())
  expect(await placesOf(accountId)).toHaveLength(3)
})

/** As if it had happened so many days ago. */
async function age(accountId: string, days: number): Promise<void> {
  await database.query.transaction().execute(async (trx) => {
    await allowLedgerChanges(trx)
    await sql`
      update ledger_transaction set created_at = created_at - make_interval(days => ${days})
      where id in (select transaction_id from ledger_entry where account_id = ${accountId})
    `.execute(trx)
    await sql`
      update credit_lease set state = 'closed', created_at = created_at - make_interval(days => ${days})
      where account_id = ${accountId}`.execute(trx)
    await sql`update credit_account set leased = 0 where id = ${accountId}`.execute(trx)
    await protectLedger(trx)
  })
}

test('deletes whole days beyond the retention, and the rest stays consistent', async () => {
  const { query } = database
  const [old, recent] = [
    await createCustomer(database, 1000n),
    await createCustomer(database, 1000n),
  ]
  const day = (await getToday(query)).getTime()
  const daysAgo = (days: number) => new Date(day - days * dayMs)
  for (const days of [3, 2]) {
    await sql`
      create table ${sql.table(nameOf(daysAgo(days)))} partition of usage_event
      for values from (${sql.lit(daysAgo(days).toISOString())}) to (${sql.lit(daysAgo(days - 1).toISOString())})
    `.execute(query)
  }
  const leases = [newId('lease'), newId('lease')]
  for (const [index, accountId] of [old, recent].entries()) {
    const lease = { leaseId: leases[index] ?? '', accountId, nodeId: 'node', need: 100n, wish: 0n }
    await takeLease(query, {
      generation: 0,
      isReclaiming: false,
      ...lease,
      nodes: 1,
      lifeSeconds: 60,
      demandSeconds: 2,
    })
  }
  await settle(query, [eventOf(old, daysAgo(3), leases[0] ?? '')])
  await settle(query, [eventOf(recent, daysAgo(2), leases[1] ?? '')])
  await age(old, 3)
  // One batch of an event that is forgotten and of one that is not: its node was away.
  const late = await createCustomer(database, 1000n)
  await settle(query, [eventOf(late, daysAgo(3), null), eventOf(late, new Date(day), null)])
  expect(await findViolations(query, {})).toEqual([])

  expect(await purgeOldRows(query, 2)).toMatchObject({
    partitions: [nameOf(daysAgo(3))],
    leases: 1,
  })
  expect(await placesOf(old)).toEqual([])
  expect(await placesOf(recent)).toEqual([nameOf(daysAgo(2))])
  expect(await placesOf(late)).toEqual([nameOf(daysAgo(0))])
  expect(await findViolations(query, {})).toEqual([])
  expect(await purgeOldRows(query, 2)).toEqual({ partitions: [], leases: 0, sums: 0 })
})

test('keeps sums by minute for two days, by hour for 90, by day without limit', async () => {
  const { query } = database
  const accountId = await createCustomer(database, 1000n)
  const day = (await getToday(query)).getTime()
  const starts = [0, 2, 3, 90, 91].map((days) => new Date(day - days * dayMs))
  await settle(
    query,
    starts.map((start) => eventOf(accountId, start, null)),
  )
  await purgeOldRows(query, 3650)
  const { rows } = await sql<{ grain: string; kept: bigint }>`
    select grain, count(*) as kept from usage_sum where account_id = ${accountId}
    group by grain order by grain`.execute(query)
  expect(rows).toEqual([
    { grain: 'day', kept: 5n },
    { grain: 'hour', kept: 4n },
    { grain: 'minute', kept: 2n },
    { grain: 'quarter_hour', kept: 4n },
  ])
})

test('keeps the sums with which the windows of budgets begin', async () => {
  const { query } = database
  const accountId = await createCustomer(database, 1000n)
  // No zone of it has whole hours: a year begins within an hour, and within a day, of UTC.
  const rule = { unit: 'year', timeZone: 'Asia/Kolkata', firstWeekday: 1 } as const
  const { fromMs, toMs } = findWindow(rule, Date.now())
  await query
    .insertInto('budget')
    .values({
      id: newId('budget'),
      user_id: accountId,
      key_id: null,
      name: 'Year',
      spend: 100n,
      requests: null,
      window_unit: rule.unit,
      time_zone: rule.timeZone,
      first_weekday: rule.firstWeekday,
    })
    .execute()
  const began = [fromMs - 1, fromMs, fromMs + 1_800_000, fromMs + 10 * 3_600_000]
  await settle(
    query,
    began.map((ms) => eventOf(accountId, new Date(ms), null)),
  )
  await purgeOldRows(query, 3650)
  const window = { fromMs, toMs }
  const usedBy = [{ id: 'year', subjectId: accountId, userId: accountId, window }]
  const { sums } = await readWindows(query, { usedBy, unbooked: () => [] })
  expect(sums.get('year')).toEqual({ requests: 3, spent: 30n, tokens: 84n })
})

test('keeps the sums with which the windows of budgets of organizations begin, of all their members', async () => {
  const { query } = database
  const [member, other] = [await createCustomer(database, 0n), await createCustomer(database, 0n)]
  const organizationId = newId('org')
  await sql`
    insert into organization (id, name, billing_email)
    values (${organizationId}, 'Engines', 'billing@example.com')`.execute(query)
  const rule = { unit: 'year', timeZone: 'Asia/Kolkata', firstWeekday: 1 } as const
  const { fromMs, toMs } = findWindow(rule, Date.now())
  await query
    .insertInto('organization_budget')
    .values({
      id: newId('budget'),
      organization_id: organizationId,
      name: 'Year',
      unit: 'usd',
      amount: 100n,
      window_unit: rule.unit,
      time_zone: rule.timeZone,
      first_weekday: rule.firstWeekday,
    })
    .execute()
  const began = [fromMs - 1, fromMs, fromMs + 1_800_000, fromMs + 10 * 3_600_000]
  // Its connections count at the price, whatever is charged.
  const paid = {
    accountId: organizationId,
    organizationId,
    billingMode: 'org_pays' as const,
    price: 10n,
  }
  await settle(
    query,
    began.flatMap((ms) =>
      [member, other].map((userId) =>
        recordForTests(userId, { ...paid, startedAt: new Date(ms).toISOString() }),
      ),
    ),
  )
  // What a member pays does not count.
  const startedAt = new Date(fromMs).toISOString()
  await settle(query, [
    recordForTests(member, { ...paid, price: 25n, startedAt }),
    recordForTests(member, { organizationId, billingMode: 'member_pays', startedAt }),
  ])
  await purgeOldRows(query, 3650)
  const window = { fromMs, toMs }
  const usedBy = [null, member].map((memberId) => ({
    id: memberId ?? 'all',
    subjectId: 'payments',
    userId: member,
    payments: { organizationId, memberId },
    window,
  }))
  const { sums } = await readWindows(query, { usedBy, unbooked: () => [] })
  expect(sums.get('all')).toEqual({ requests: 7, spent: 85n, tokens: 196n })
  expect(sums.get(member)).toEqual({ requests: 4, spent: 55n, tokens: 112n })
})
