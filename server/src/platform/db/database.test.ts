import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { runExclusively } from './advisory-lock'
import type { Database } from './database'
import { DatabaseLiveness } from './liveness'
import { openTestDatabases } from '../../../testing/db/database'
import { eventually, untilPast } from '../../../testing/eventually'
import { TestClock } from '../../../testing/clock'

const stack = new AsyncDisposableStack()
let database: Database
/** The same with one connection. */
let again: (statementMs?: number) => Database

beforeAll(async () => {
  ;({ database, again } = await openTestDatabases(stack))
})
afterAll(() => stack.disposeAsync())

test('D01: a connection that breaks between two statements of a transaction ends no process', async () => {
  const broken = database.query.transaction().execute(async (trx) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
    await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(database.query)
    await eventually(async () => {
      const left = sql`select from pg_stat_activity where pid = ${rows[0]?.pid}`
      return (await left.execute(database.query)).rows.length === 0
    })
    await sql`select 1`.execute(trx)
  })
  await expect(broken).rejects.toThrow()
  await broken.catch(() => undefined)
  await database.ping()
})

test('D02: statements behind a `begin` that a frozen server executed late are committed', async () => {
  const { query } = database
  await sql`create table late (at int)`.execute(query)
  const small = again(2000)
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(small.query)
  const pid = rows[0]?.pid ?? 0
  expect(pid).toBeGreaterThan(1)
  process.kill(pid, 'SIGSTOP')
  const begun = small.query.transaction().execute((trx) => sql`select 1`.execute(trx))
  await expect(begun).rejects.toThrow('timeout')
  process.kill(pid, 'SIGCONT')
  await sql`insert into late values (1)`.execute(small.query)
  const { rows: written } = await sql`select at from late`.execute(query)
  expect(written).toEqual([{ at: 1 }])
})

test('D01: a node that vanishes within a transaction locks its rows for seconds, not for hours', async () => {
  const { query } = database
  await sql`create table account (id int primary key)`.execute(query)
  await sql`insert into account values (1)`.execute(query)
  const small = again(2000)
  const { promise: isLocked, resolve } = Promise.withResolvers<void>()
  const { promise: isBack, resolve: comeBack } = Promise.withResolvers<void>()
  const vanished = small.query.transaction().execute(async (trx) => {
    await sql`select id from account for update`.execute(trx)
    resolve()
    // Its machine lost power, or its network: the server hears nothing more, and sees no connection end.
    await isBack
  })
  await isLocked
  const { rows } = await sql`select id from account for update`.execute(query)
  expect(rows).toEqual([{ id: 1 }])
  comeBack()
  await expect(vanished).rejects.toThrow()
})

test('a job that takes longer than a transaction may be idle keeps its lock until its end', async () => {
  const small = again(2000)
  let others: unknown
  const ended = await runExclusively(small.query, 'report', async () => {
    await untilPast(Date.now() + 4500)
    others = await runExclusively(database.query, 'report', async () => 'runs too')
    return 'ran'
  })
  expect([ended, others]).toEqual(['ran', undefined])
})

test('M4: a read-only database does not count as available', async () => {
  const small = again(20_000)
  await small.ping()
  await sql`set default_transaction_read_only = on`.execute(small.query)
  await expect(small.ping()).rejects.toThrow('is read-only')
  await sql`set default_transaction_read_only = off`.execute(small.query)
  await small.ping()
})

/** Occupies all connections of the pool while `act` runs. */
async function occupied<Result>(act: () => Promise<Result>): Promise<Result> {
  const { promise: isFreed, resolve: free } = Promise.withResolvers<void>()
  const taken: Promise<void>[] = []
  const occupying = Array.from({ length: 10 }, () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    taken.push(promise)
    return database.query.connection().execute(async () => {
      resolve()
      await isFreed
    })
  })
  await Promise.all(taken)
  try {
    return await act()
  } finally {
    free()
    await Promise.all(occupying)
  }
}

test('finding M19: statements that occupy all connections of the pool do not make the database count as gone', async () => {
  await occupied(() => eventually(() => database.liveness.isAlive()))
})

test('finding M22: a probe is answered while statements occupy all connections of the pool', async () => {
  expect(await occupied(() => database.probe().then(() => 'answered'))).toBe('answered')
})

/** The liveness of a database whose ping takes so many milliseconds. */
async function livenessAt(roundTripMs: number): Promise<DatabaseLiveness> {
  const clock = new TestClock()
  const liveness = new DatabaseLiveness({ ping: () => clock.sleep(roundTripMs), clock })
  await clock.run(liveness.measure())
  return liveness
}

test('finding M22: timeouts grow with the round trip to a distant database, within bounds', async () => {
  const near = new DatabaseLiveness({ ping: () => Promise.resolve() })
  const far = await livenessAt(100)
  expect([near.maxConnectMs, near.maxLookUpMs, near.timeoutFor(900)]).toEqual([5000, 10_000, 900])
  expect([far.maxConnectMs, far.maxLookUpMs, far.timeoutFor(900)]).toEqual([9000, 14_000, 1500])
  const lost = await livenessAt(1500)
  expect([lost.maxConnectMs, lost.timeoutFor(900)]).toEqual([45_000, 6900])
})

test('finding M19: a stalled process does not take the answer that waits to be read for silence', async () => {
  const clock = new TestClock()
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const liveness = new DatabaseLiveness({ ping: () => answered, clock })
  const isAlive = liveness.isAlive()
  clock.after(liveness.maxSilenceMs + 5, answer)
  // The event loop is blocked beyond the silence: its timer and the answer are due when it goes on.
  await clock.stall(liveness.maxSilenceMs + 50)
  expect(await isAlive).toBe(true)
})
