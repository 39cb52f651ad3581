import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { Database } from './database'
import { migrateWithin } from './migrate'
import { openSession } from './session'
import { adminUrlOf, dropDatabase, newDatabase } from '../../../testing/databases'
import { createCustomer } from '../../../testing/ledger/customer'

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

const connect = (url: string) =>
  stack.use(new Database({ connectionString: url }, { poolSize: 2, onError: () => undefined }))

/** A migrated database, as its owner. */
async function openOwned() {
  const url = await newDatabase()
  stack.defer(() => dropDatabase(url))
  return { url, owner: connect(url) }
}

test('finding M17: tests connect as a role that owns its database and is not a superuser', async () => {
  const { owner } = await openOwned()
  const { rows } = await sql`
    select rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, datdba = pg_roles.oid as owns
    from pg_roles, pg_database
    where rolname = current_user and datname = current_database()`.execute(owner.query)
  const not = { rolsuper: false, rolcreaterole: false, rolcreatedb: false, rolbypassrls: false }
  expect(rows).toEqual([{ ...not, owns: true }])
})

test('finding M17: an owner without the permissions that an early migration revokes can book after the last one', async () => {
  const { owner } = await openOwned()
  await using session = await openSession(owner, 60_000)
  await sql`drop schema public cascade`.execute(session.query)
  await sql`create schema public`.execute(session.query)
  await migrateWithin(session.query, '0049-failed-logs')
  const booked = createCustomer(session, 1000n)
  await expect(booked).rejects.toThrow('permission denied for table ledger_transaction')
  await migrateWithin(session.query)
  await createCustomer(session, 1000n)
  const { rows } = await sql`select amount::text from ledger_entry order by 1`.execute(
    session.query,
  )
  expect(rows).toEqual([{ amount: '-1000' }, { amount: '1000' }])
})

const tables = ['ledger_transaction', 'ledger_entry', 'audit_trail', 'organization_trail']

const changesOf = (table: string) => [
  `update ${table} set created_at = created_at - interval '1 second'`,
  `delete from ${table}`,
  `truncate ${table} cascade`,
]

/** The rights of a session while it tries, and the refusal that PostgreSQL gives. */
const sessions = {
  'the owner': { isAdmin: false, first: [], refusal: /append-only|permission denied/ },
  'the owner with every permission': {
    isAdmin: false,
    first: tables.map((table) => `grant all on ${table} to current_user`),
    refusal: /append-only/,
  },
  'a superuser': { isAdmin: true, first: [], refusal: /append-only/ },
  'a superuser whose session skips ordinary triggers': {
    isAdmin: true,
    first: ['set local session_replication_role = replica'],
    refusal: /append-only/,
  },
}

describe('M17 I10: append-only tables stay unchanged', () => {
  let owner: Database
  let admin: Database

  beforeAll(async () => {
    const owned = await openOwned()
    owner = owned.owner
    admin = connect(await adminUrlOf(owned.url))
    await createCustomer(owner, 1000n)
    await sql`
      insert into audit_trail (id, method, route, object_kind, concerned, request_id)
      values ('trail', 'POST', '/api/admin/plans', 'plan', '{}', 'request')`.execute(owner.query)
    await sql`
      insert into organization_trail (id, organization_id, actor, action, object_id)
      values ('trail', 'org', 'system', 'credit.bought', 'checkout')`.execute(owner.query)
  })

  test.each(Object.entries(sessions))('%s', async (_name, { isAdmin, first, refusal }) => {
    const { query } = isAdmin ? admin : owner
    for (const statement of tables.flatMap(changesOf)) {
      const changed = query.transaction().execute(async (trx) => {
        for (const one of first) await sql.raw(one).execute(trx)
        await sql.raw(statement).execute(trx)
      })
      await expect(changed.then(() => statement)).rejects.toThrow(refusal)
    }
  })
})
