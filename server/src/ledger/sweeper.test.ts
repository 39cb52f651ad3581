import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { createCustomer } from '../../testing/ledger/customer'
import { endLeases, findExpiredLeases } from './end-leases'
import { registerNode } from './node'
import { renewLeases } from './renew-leases'
import { Sweeper } from './sweeper'
import { takeLease } from './take-lease'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
  await skewable()
})
afterAll(() => stack.disposeAsync())

/** From now on `now()` of every connection is what the table `skew` says. */
async function skewable(): Promise<void> {
  await using client = Object.assign(database.client(), {
    [Symbol.asyncDispose]: () => client.end(),
  })
  await client.connect()
  await client.query(`
    create schema skewed;
    create table skewed.offset_of_clock (hours integer not null);
    insert into skewed.offset_of_clock values (0);
    create function skewed.now() returns timestamptz stable language sql as
      $$ select pg_catalog.now() + make_interval(hours => hours) from skewed.offset_of_clock $$`)
  const { rows } = await client.query('select current_database() as name')
  await client.query(
    `alter database "${rows[0].name}" set search_path = skewed, pg_catalog, public`,
  )
  await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`)
  for (let tries = 0; tries < 20; tries++) await database.ping().catch(() => undefined)
}

const setClock = (hours: number) =>
  sql`update skewed.offset_of_clock set hours = ${hours}`.execute(database.query)

async function lease(nodeId: string): Promise<string> {
  const accountId = await createCustomer(database, 1000n)
  await registerNode(database.query, { id: nodeId, location: nodeId })
  const id = `lease_${nodeId}`
  const taken = {
    generation: 0,
    isReclaiming: false,
    leaseId: id,
    accountId,
    nodeId,
    need: 100n,
    wish: 100n,
    nodes: 1,
    lifeSeconds: 60,
    demandSeconds: 2,
  }
  await takeLease(database.query, taken)
  return id
}

const stateOf = async (id: string) => {
  const { rows } = await sql<{ state: string }>`
    select state from credit_lease where id = ${id}`.execute(database.query)
  return rows[0]?.state
}

test('T08: after a jump of the database clock only leases without renewal are swept, after a minute', async () => {
  const clock = { ms: 0 }
  const { query } = database
  const sweeper = new Sweeper(
    { findExpired: () => findExpiredLeases(query), end: (ids) => endLeases(query, ids, 'swept') },
    () => clock.ms,
  )
  const [live, dead] = [await lease('live'), await lease('dead')]
  /** Some seconds, in which the node that lives renews as it does. */
  const pass = async (seconds: number): Promise<string[]> => {
    const swept: string[] = []
    for (const endsMs = clock.ms + seconds * 1000; clock.ms < endsMs;) {
      clock.ms += 10_000
      swept.push(...(await sweeper.sweep()))
      if (clock.ms % 20_000 === 0)
        await renewLeases(database.query, [live], { lifeSeconds: 60, lockMs: 5000 })
    }
    return swept
  }
  await setClock(1)
  // Both look long expired by now, and the sweeper has not watched them yet.
  expect(await sweeper.sweep()).toEqual([])
  expect(await pass(50)).toEqual([])
  expect(await pass(20)).toEqual([dead])
  expect([await stateOf(live), await stateOf(dead)]).toEqual(['active', 'swept'])
  // Back again: nothing ends before its time, and who lives goes on.
  const late = await lease('late')
  await setClock(0)
  expect(await pass(120)).toEqual([])
  await setClock(-1)
  expect(await pass(120)).toEqual([])
  await setClock(0)
  expect(await sweeper.sweep()).toEqual([])
  expect(await pass(50)).toEqual([])
  expect([await stateOf(live), await stateOf(late)]).toEqual(['active', 'active'])
  await renewLeases(database.query, [late], { lifeSeconds: 60, lockMs: 5000 })
})

test('all leases of a lost region are swept together, in statements that lock few accounts each', async () => {
  const count = 2500
  const clock = { ms: 0 }
  const { query } = database
  const accountId = await createCustomer(database, BigInt(count))
  await sql`
    insert into credit_lease (id, account_id, node_id, amount, expires_at)
    select 'lost_' || number, ${accountId}, 'lost', 1, pg_catalog.now() - interval '5 minutes'
    from generate_series(1, ${count}) as number`.execute(query)
  await sql`update credit_account set leased = ${count} where id = ${accountId}`.execute(query)
  const sizes: number[] = []
  const sweeper = new Sweeper(
    {
      findExpired: () => findExpiredLeases(query),
      end: (ids) => {
        sizes.push(ids.length)
        return endLeases(query, ids, 'swept')
      },
    },
    () => clock.ms,
  )
  expect(await sweeper.sweep()).toEqual([])
  clock.ms += 60_000
  expect(await sweeper.sweep()).toHaveLength(count)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(500)
  const { rows } = await sql<{ leased: bigint }>`
    select leased from credit_account where id = ${accountId}`.execute(query)
  expect(rows).toEqual([{ leased: 0n }])
})
