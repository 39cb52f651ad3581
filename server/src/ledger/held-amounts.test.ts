import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { createCustomer } from '../../testing/ledger/customer'
import { heldOf, HeldAmountPublisher, type HeldAmount } from './held-amounts'
import { findRecentReclaims } from './lease-reclaim'
import { purgeOldRows } from './retention'
import { takeLease } from './take-lease'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { newId } from '../platform/db/id'

const of = (figures: Record<string, bigint>): HeldAmount[] =>
  Object.entries(figures).map(([leaseId, amount]) => ({ leaseId, amount }))

const manyHolding = (held: bigint) =>
  of(Object.fromEntries(Array.from({ length: 1200 }, (_, index) => [`lease ${index}`, held])))

describe('the held amounts that a node publishes', () => {
  test('are the holds at two consecutive checks: requests that end between them cost no write', () => {
    const publisher = new HeldAmountPublisher()
    expect(publisher.next(of({ short: 5n, long: 7n }))).toEqual([])
    const long = publisher.next(of({ short: 0n, long: 9n }))
    expect(long).toEqual(of({ long: 7n }))
    publisher.confirm(long)
    expect(publisher.next(of({ short: 5n, long: 9n }))).toEqual(of({ long: 9n }))
  })

  test('are published again only after a change, and at once when nothing is held', () => {
    const publisher = new HeldAmountPublisher()
    const look = (figures: Record<string, bigint>) => {
      const next = publisher.next(of(figures))
      publisher.confirm(next)
      return next
    }
    look({ a: 3n, b: 4n })
    expect(look({ a: 3n, b: 4n })).toEqual(of({ a: 3n, b: 4n }))
    expect(look({ a: 3n, b: 4n })).toEqual([])
    // One has settled, the other is not even a lease any more.
    expect(look({ a: 0n })).toEqual(of({ a: 0n, b: 0n }))
    expect(look({ a: 0n })).toEqual([])
  })

  test('are published again after an unanswered statement, even if unchanged', () => {
    const publisher = new HeldAmountPublisher()
    publisher.next(of({ a: 3n }))
    publisher.confirm(publisher.next(of({ a: 3n })))
    expect(publisher.next(of({ a: 0n }))).toEqual(of({ a: 0n }))
    expect(publisher.next(of({ a: 3n }))).toEqual(of({ a: 0n }))
    expect(publisher.next(of({ a: 3n }))).toEqual(of({ a: 3n }))
  })

  test('are published in turns for very many leases', () => {
    const publisher = new HeldAmountPublisher()
    publisher.next(manyHolding(1n))
    const published = new Set<string>()
    for (let look = 1n; look <= 3n; look++) {
      // All of them change all the time.
      const next = publisher.next(manyHolding(1n + look))
      expect(next.length).toBeLessThanOrEqual(500)
      for (const { leaseId } of next) published.add(leaseId)
      publisher.confirm(next)
    }
    expect(published.size).toBe(1200)
  })
})

describe('the held amount of an account', () => {
  const stack = new AsyncDisposableStack()
  let database: Database

  beforeAll(async () => {
    database = await openTestDatabase(stack)
  })
  afterAll(() => stack.disposeAsync())

  async function newLease(accountId: string, amount: bigint): Promise<string> {
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

  const tell = (figures: Record<string, bigint>) =>
    findRecentReclaims(database.query, 'node', of(figures))

  async function heldBy(accountId: string): Promise<bigint | undefined> {
    const { rows } = await sql<{ held: bigint }>`
      select ${heldOf('a.id')} as held from credit_account as a where id = ${accountId}
    `.execute(database.query)
    return rows[0]?.held
  }

  async function heldRows(): Promise<number> {
    const { rows } = await sql`select from credit_held`.execute(database.query)
    return rows.length
  }

  test('is the published amount of its leases, never their free credit', async () => {
    const accountId = await createCustomer(database, 1000n)
    const [one, other] = [await newLease(accountId, 300n), await newLease(accountId, 400n)]
    expect(await heldBy(accountId)).toBe(0n)
    await tell({ [one]: 20n, [other]: 30n })
    expect(await heldBy(accountId)).toBe(50n)
    await tell({ [one]: 25n, [other]: 0n })
    expect(await heldBy(accountId)).toBe(25n)
    // Told before what was spent was booked: no more is held than is left of a lease.
    await sql`update credit_lease set spent = 290 where id = ${one}`.execute(database.query)
    expect(await heldBy(accountId)).toBe(10n)
    await tell({ [one]: 0n })
    expect(await heldBy(accountId)).toBe(0n)
    expect(await heldRows()).toBe(0)
  })

  test('ends with the lease of a node that died, and is deleted', async () => {
    const accountId = await createCustomer(database, 1000n)
    const [dead, alive] = [await newLease(accountId, 300n), await newLease(accountId, 400n)]
    await tell({ [dead]: 20n, [alive]: 30n })
    await sql`update credit_lease set state = 'swept' where id = ${dead}`.execute(database.query)
    expect(await heldBy(accountId)).toBe(30n)
    await purgeOldRows(database.query, 30)
    expect(await heldRows()).toBe(1)
    expect(await heldBy(accountId)).toBe(30n)
  })

  test('is published while a booking locks its leases', async () => {
    const accountId = await createCustomer(database, 1000n)
    const lease = await newLease(accountId, 300n)
    await database.query.transaction().execute(async (trx) => {
      await sql`select from credit_account where id = ${accountId} for update`.execute(trx)
      await sql`select from credit_lease where id = ${lease} for update`.execute(trx)
      await tell({ [lease]: 20n })
      expect(await heldBy(accountId)).toBe(20n)
    })
  })
})
