import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { eraseUser } from '../../api/operator/users/erase'
import { insertLogs } from '../insert-logs'
import { toLogRecord } from '../log-record'
import {
  createExportFixture,
  isReal,
  type ExportFixture,
} from '../../../testing/clickhouse-stand-in/fixture'
import { valuesForTests } from '../../../testing/request-logs/values'
import { newId } from '../../platform/db/id'
import { eventually } from '../../../testing/eventually'

const stack = new AsyncDisposableStack()
let fixture: ExportFixture
beforeAll(async () => {
  fixture = await createExportFixture(stack)
  await fixture.exportAll()
})
afterAll(() => stack.disposeAsync())

async function newUser(): Promise<string> {
  const id = newId('user')
  const row = { id, email: `${id}@example.com`, display_name: 'One' }
  await fixture.database.query.insertInto('users').values(row).execute()
  await insertLog(id)
  return id
}

const insertLog = (userId: string) =>
  insertLogs(fixture.database.query, [toLogRecord(valuesForTests({ id: newId('req'), userId }))])

const count = (userId: string) => fixture.stored.count({ userId })
const erasures = async () =>
  (await fixture.database.query.selectFrom('log_erasure').selectAll().execute()).length
/** Lets ten minutes pass for the erasures. */
const passTime = () =>
  sql`update log_erasure set begun_at = begun_at - interval '11 minutes'`.execute(
    fixture.database.query,
  )

/** Waits until mutations, which a real server runs in the background, are done. */
const untilGone = (userId: string) => eventually(async () => (await count(userId)) === 0n)

test('the logs of an erased account are deleted, other accounts’ stay', async () => {
  const [gone, other] = [await newUser(), await newUser()]
  await fixture.exportAll()
  await eraseUser(fixture.database.query, gone)
  expect(await count(gone)).toBe(1n)
  await fixture.exportAll()
  await untilGone(gone)
  expect(await count(other)).toBe(1n)
  // Verified some minutes later.
  expect(await erasures()).toBe(1)
  await passTime()
  await fixture.exportAll()
  expect(await erasures()).toBe(0)
})

test('a log that arrives in spite of the deletion is deleted once more', async () => {
  const gone = await newUser()
  await fixture.exportAll()
  await eraseUser(fixture.database.query, gone)
  await fixture.exportAll()
  await untilGone(gone)
  // As by an insertion that was on its way.
  await insertLog(gone)
  await fixture.exportAll()
  expect(await count(gone)).toBe(1n)
  await passTime()
  await fixture.exportAll()
  await untilGone(gone)
  expect(await erasures()).toBe(1)
  await passTime()
  await fixture.exportAll()
  expect(await erasures()).toBe(0)
})

test.skipIf(isReal)('an erasure waits for a server that is down', async () => {
  const gone = await newUser()
  await fixture.exportAll()
  await eraseUser(fixture.database.query, gone)
  fixture.standIn?.faults.push({ type: 'bad gateway' })
  await expect(fixture.exportAll(fixture.newExporter())).rejects.toThrow('502')
  expect(await count(gone)).toBe(1n)
  await fixture.exportAll()
  expect(await count(gone)).toBe(0n)
})
