import { afterAll, beforeAll, expect, test } from 'bun:test'
import { insertLogs } from '../insert-logs'
import { toLogRecord } from '../log-record'
import { measureQueue } from './queue'
import {
  ageQueue,
  createExportFixture,
  isReal,
  type ExportFixture,
} from '../../../testing/clickhouse-stand-in/fixture'
import type { StandInFault } from '../../../testing/clickhouse-stand-in/stand-in'
import * as fc from '../../../testing/property'
import { valuesForTests } from '../../../testing/request-logs/values'
import { newId } from '../../platform/db/id'

const stack = new AsyncDisposableStack()
let fixture: ExportFixture
beforeAll(async () => {
  fixture = await createExportFixture(stack)
  await fixture.exportAll()
})
afterAll(() => stack.disposeAsync())

async function insertMany(userId: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('req'))
  const logs = ids.map((id) => toLogRecord(valuesForTests({ id, userId })))
  await insertLogs(fixture.database.query, logs)
  return ids
}

const rowsOf = (userId: string) =>
  (fixture.standIn?.tables.get('request_log')?.rows ?? []).filter(
    (row) => row['user_id'] === userId,
  )

const fault: fc.Arbitrary<StandInFault> = fc.constantFrom(
  { type: 'bad gateway' },
  { type: 'lost' },
  { type: 'broken off' },
  { type: 'exception', code: 241, label: 'MEMORY_LIMIT_EXCEEDED' },
  { type: 'exception', code: 252, label: 'TOO_MANY_PARTS' },
)

test.skipIf(isReal)(
  'each log arrives exactly once, through any failure and on any process',
  async () => {
    const step = fc.record({
      logs: fc.integer({ min: 0, max: 5 }),
      fault: fc.option(fault),
      dies: fc.boolean(),
    })
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 8 }),
      async (steps) => {
        const userId = newId('user')
        const ids: string[] = []
        let exporter = fixture.newExporter()
        for (const { logs, fault: next, dies } of steps) {
          ids.push(...(await insertMany(userId, logs)))
          if (next) fixture.standIn?.faults.push(next)
          await fixture.exportAll(exporter).catch(() => undefined)
          if (dies) exporter = fixture.newExporter()
        }
        fixture.standIn?.faults.splice(0)
        await fixture.exportAll(exporter)
        const arrived = await fixture.stored.list({ userId }, { limit: 100, offset: 0 })
        expect(arrived.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
        expect(await measureQueue(fixture.database.query)).toMatchObject({ waiting: 0 })
      },
    )
    await fc.assert(property, { numRuns: 40 })
  },
  120_000,
)

test.skipIf(isReal)('one of two concurrently exporting nodes exports', async () => {
  const userId = newId('user')
  const ids = await insertMany(userId, 20)
  await ageQueue(fixture.database)
  await Promise.all([fixture.newExporter().run(), fixture.newExporter().run()])
  expect(rowsOf(userId).map((row) => row['id'])).toBeArrayOfSize(ids.length)
})
