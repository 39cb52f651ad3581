import { afterAll, beforeEach, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { lookAtPermissions } from './permissions'
import { Database } from '../../platform/db/database'
import { adminUrlOf, dropDatabase, newDatabase } from '../../../testing/databases'

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

const connect = (url: string) =>
  stack.use(new Database({ connectionString: url }, { poolSize: 1, onError: () => undefined }))

let database: Database
let admin: Database
let role: string

beforeEach(async () => {
  const url = await newDatabase()
  stack.defer(() => dropDatabase(url))
  database = connect(url)
  admin = connect(await adminUrlOf(url))
  const { rows } = await sql<{ role: string }>`select current_user as role`.execute(database.query)
  role = rows[0]?.role ?? ''
})

const look = () => lookAtPermissions(database.query)
const asAdmin = (statement: string) => sql.raw(statement).execute(admin.query)

test('a role that owns its database may create and alter its tables', async () => {
  expect(await look()).toEqual({
    name: 'permissions',
    state: 'ok',
    what: `${role} may create and alter tables in the schema public`,
  })
})

test('a role without the right to create tables receives the statement that grants it', async () => {
  await asAdmin('alter schema public owner to current_user')
  await asAdmin('grant usage on schema public to public')
  expect(await look()).toEqual({
    name: 'permissions',
    state: 'failure',
    what: `${role} may not create tables in the schema public`,
    fix: `As an administrator: grant usage, create on schema "public" to "${role}"`,
  })
})

test('a role without a schema is reported', async () => {
  await asAdmin('drop schema public cascade')
  const { state, what } = await look()
  expect([state, what]).toEqual([
    'failure',
    `${role} may use no schema of its search_path ("$user", public)`,
  ])
})

test('a role that does not own the tables is reported with their owner', async () => {
  await asAdmin('alter table api_key owner to current_user')
  await asAdmin('alter table prompt owner to current_user')
  const { rows } = await sql<{ owner: string }>`select current_user as owner`.execute(admin.query)
  const owner = rows[0]?.owner
  expect(await look()).toEqual({
    name: 'permissions',
    state: 'failure',
    what: `${role} may not alter 2 tables of the schema public, such as api_key, which belongs to ${owner}`,
    fix: `As an administrator: alter table "api_key" owner to "${role}", and so on for the others`,
  })
})

test('tables of extensions do not count', async () => {
  await asAdmin('create table of_extension (id int)')
  await asAdmin('alter extension plpgsql add table of_extension')
  expect((await look()).state).toBe('ok')
})
