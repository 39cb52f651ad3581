import { afterAll, beforeAll, expect, test } from 'bun:test'
import { applyExpiry } from './holds'
import { exportedTables } from './tables'
import { insertLogs } from '../insert-logs'
import { toLogRecord } from '../log-record'
import {
  createExportFixture,
  isReal,
  type ExportFixture,
} from '../../../testing/clickhouse-stand-in/fixture'
import { valuesForTests } from '../../../testing/request-logs/values'
import { eventually } from '../../../testing/eventually'
import { newId } from '../../platform/db/id'

const stack = new AsyncDisposableStack()
let fixture: ExportFixture
beforeAll(async () => {
  fixture = await createExportFixture(stack)
  await fixture.exportAll()
})
afterAll(() => stack.disposeAsync())

const dayMs = 86_400_000

/** Logs a request of ten days ago and one of now. */
async function insertRequests(userId: string, organizationId: string | null): Promise<void> {
  for (const at of [new Date(Date.now() - 10 * dayMs), new Date()]) {
    const values = valuesForTests({ id: newId('req', at.getTime()), userId, organizationId })
    await insertLogs(fixture.database.query, [toLogRecord(values)])
  }
}

const count = (userId: string) => fixture.stored.count({ userId })

test('a legal hold keeps the logs of an account and of an organization in ClickHouse, and no others', async () => {
  const [person, member, other] = [newId('user'), newId('user'), newId('user')]
  const organizationId = newId('org')
  await insertRequests(person, null)
  await insertRequests(member, organizationId)
  await insertRequests(other, null)
  await fixture.exportAll()
  const heldIds = [person, organizationId]
  await applyExpiry(fixture.clickHouse, { heldIds, days: 6 })
  await eventually(async () => (await count(other)) === 1n)
  expect([await count(person), await count(member)]).toEqual([2n, 2n])
})

test.skipIf(isReal)(
  'the tables delete nothing by age while there is a hold, from the next run on',
  async () => {
    const { database, newExporter, exportAll, standIn } = fixture
    const days = () =>
      Object.values(exportedTables).map(({ name }) => standIn?.tables.get(name)?.days)
    const exporter = newExporter()
    await exporter.upkeep()
    expect(days()).toEqual([31, 31])
    const subject_id = newId('user')
    await database.query
      .insertInto('legal_hold')
      .values({ id: 'hold_1', subject_id, reason: 'Case 1.' })
      .execute()
    await exportAll(exporter)
    expect(days()).toEqual([7300, 7300])
    await database.query.updateTable('legal_hold').set({ ended_at: new Date() }).execute()
    await exportAll(exporter)
    expect(days()).toEqual([31, 31])
  },
)
