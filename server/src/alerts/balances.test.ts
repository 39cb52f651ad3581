import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { notifyLowBalances } from './balances'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { newId } from '../platform/db/id'
import { createCustomer, topUpOf } from '../../testing/ledger/customer'
import { post } from '../ledger/post'
import { takeLease } from '../ledger/take-lease'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const usd = 1_000_000_000n

const checkBalances = () => notifyLowBalances(database.query, usd)

const spend = (accountId: string, amount: bigint) =>
  post(database.query, {
    ...topUpOf(accountId, -amount),
    kind: 'adjust',
    house: 'house:adjustment',
  })

const noticesOf = (userId: string) =>
  database.query
    .selectFrom('notification')
    .select(['kind', 'title', 'body'])
    .where('user_id', '=', userId)
    .orderBy('id')
    .execute()

const mailsTo = (userId: string) =>
  database.query
    .selectFrom('mail')
    .select('subject')
    .where('recipient', '=', `${userId}@example.com`)
    .execute()

async function newMember(organizationId: string, role: 'owner' | 'admin' | 'developer') {
  const userId = await createCustomer(database)
  await database.query
    .insertInto('membership')
    .values({ organization_id: organizationId, user_id: userId, role, status: 'active' })
    .execute()
  return userId
}

describe('a balance', () => {
  test('below the threshold is notified once for each fall, by any one process', async () => {
    const userId = await createCustomer(database, usd)
    expect(await checkBalances()).toBe(0)
    await spend(userId, 1n)
    const counts = await Promise.all(Array.from({ length: 4 }, checkBalances))
    expect(counts.filter((count) => count > 0)).toEqual([1])
    expect(await checkBalances()).toBe(0)
    await post(database.query, topUpOf(userId, 1n))
    expect(await checkBalances()).toBe(0)
    await spend(userId, usd / 2n)
    expect(await checkBalances()).toBe(1)
    const body =
      'The balance of your account has fallen to $0.50, below $1.00. Without credit, paid requests are rejected. Add credit to continue.'
    const notices = await noticesOf(userId)
    expect(notices).toHaveLength(2)
    expect(notices[1]).toEqual({
      kind: 'low_balance',
      title: 'Low balance: your account',
      body,
    })
    expect(await mailsTo(userId)).toHaveLength(2)
  })

  test('finding M15: has fallen if it is credited and spent between two checks', async () => {
    const known = await createCustomer(database, usd)
    expect(await checkBalances()).toBe(0)
    await spend(known, usd)
    expect(await checkBalances()).toBe(1)
    // And one whose balance was not checked yet.
    const fresh = await createCustomer(database)
    for (const userId of [known, fresh]) {
      await post(database.query, topUpOf(userId, 2n * usd))
      await spend(userId, (3n * usd) / 2n)
    }
    expect(await checkBalances()).toBe(2)
    expect(await checkBalances()).toBe(0)
    expect([(await noticesOf(known)).length, (await noticesOf(fresh)).length]).toEqual([2, 1])
  })

  test('finding M15: is notified by one of several processes that check at the same time', async () => {
    const userId = await createCustomer(database)
    await post(database.query, topUpOf(userId, 2n * usd))
    await spend(userId, 2n * usd)
    const counts = await Promise.all(Array.from({ length: 4 }, checkBalances))
    expect(counts.filter((count) => count > 0)).toEqual([1])
    expect(await noticesOf(userId)).toHaveLength(1)
  })

  test('finding M15: has not fallen if it is credited below the threshold, or if requests hold the rest', async () => {
    const userId = await createCustomer(database)
    await post(database.query, topUpOf(userId, usd - 1n))
    await spend(userId, usd - 1n)
    expect(await checkBalances()).toBe(0)
    await post(database.query, topUpOf(userId, usd - 1n))
    const leaseId = newId('lease')
    const lease = { leaseId, accountId: userId, nodeId: newId('node'), need: usd - 1n, wish: 0n }
    await takeLease(database.query, {
      generation: 0,
      isReclaiming: false,
      demandSeconds: 2,
      ...lease,
      nodes: 1,
      lifeSeconds: 600,
    })
    await sql`insert into credit_held (lease_id, held) values (${leaseId}, ${usd - 1n})`.execute(
      database.query,
    )
    // At 1.5 on paper, half of which is there.
    await post(database.query, topUpOf(userId, usd / 2n))
    await spend(userId, usd / 2n)
    expect(await checkBalances()).toBe(0)
    expect(await noticesOf(userId)).toEqual([])
  })

  test('finding M15: causes no work while it stays above the threshold, for any number of credits', async () => {
    const userId = await createCustomer(database, 5n * usd)
    await checkBalances()
    for (let k = 0; k < 5; k++) await post(database.query, topUpOf(userId, usd))
    const { rows } = await sql`select from balance_rise where account_id = ${userId}`.execute(
      database.query,
    )
    expect(rows).toHaveLength(0)
  })

  test('excludes the holds of running requests', async () => {
    const userId = await createCustomer(database, 3n * usd)
    const leaseId = newId('lease')
    const lease = { leaseId, accountId: userId, nodeId: newId('node'), need: 3n * usd, wish: 0n }
    await takeLease(database.query, {
      generation: 0,
      isReclaiming: false,
      ...lease,
      nodes: 1,
      demandSeconds: 2,
      lifeSeconds: 600,
    })
    // What a node has set aside for requests to come is there still.
    expect(await checkBalances()).toBe(0)
    await sql`insert into credit_held (lease_id, held) values (${leaseId}, ${(5n * usd) / 2n})`.execute(
      database.query,
    )
    expect(await checkBalances()).toBe(1)
    expect((await noticesOf(userId))[0]?.body).toStartWith(
      'The balance of your account has fallen to $0.50, below $1.00.',
    )
    expect(await checkBalances()).toBe(0)
    await sql`delete from credit_held where lease_id = ${leaseId}`.execute(database.query)
    expect(await checkBalances()).toBe(0)
    expect(await noticesOf(userId)).toHaveLength(1)
  })

  test('has not fallen if it never reached the threshold', async () => {
    const userId = await createCustomer(database, usd - 1n)
    expect(await checkBalances()).toBe(0)
    await spend(userId, usd / 2n)
    expect(await checkBalances()).toBe(0)
    expect(await noticesOf(userId)).toEqual([])
  })

  test('is checked without waiting for a booking', async () => {
    const userId = await createCustomer(database, usd)
    await database.query.transaction().execute(async (trx) => {
      await sql`select from credit_account where id = ${userId} for update`.execute(trx)
      expect(await checkBalances()).toBe(0)
    })
    await spend(userId, 1n)
    expect(await checkBalances()).toBe(1)
  })

  test('notifies owner and admins if it belongs to an organization', async () => {
    const id = newId('org')
    const { query } = database
    await query
      .insertInto('organization')
      .values({ id, name: 'Acme', billing_email: 'money@example.com' })
      .execute()
    const [owner, admin, developer] = [
      await newMember(id, 'owner'),
      await newMember(id, 'admin'),
      await newMember(id, 'developer'),
    ]
    await post(query, topUpOf(id, usd))
    expect(await checkBalances()).toBe(0)
    await spend(id, usd)
    expect(await checkBalances()).toBe(1)
    for (const userId of [owner, admin]) {
      const [notice] = await noticesOf(userId)
      expect(notice?.title).toBe('Low balance: the organization Acme')
      expect(await mailsTo(userId)).toHaveLength(1)
    }
    expect(await noticesOf(developer)).toEqual([])
  })
})
