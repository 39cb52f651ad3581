// Measures the export of request logs to ClickHouse: what its queue adds to the insertion of logs, and logs per second.
// The stand-in costs more than ClickHouse, in this process: CLICKHOUSE_TEST_URL names a real server
// (server/testing/clickhouse-stand-in/README.md).
// Run by: npm run bench log-export
import {
  ageQueue,
  createExportFixture,
  isReal,
} from '../server/testing/clickhouse-stand-in/fixture'
import { valuesForTests } from '../server/testing/request-logs/values'
import { newId } from '../server/src/platform/db/id'
import { makePartitions } from '../server/src/platform/db/partitions'
import { closeQueue, openQueue } from '../server/src/request-logs/clickhouse/queue'
import { insertLogs } from '../server/src/request-logs/insert-logs'
import { toLogRecord } from '../server/src/request-logs/log-record'

const batchSize = 2000
const accounts = 50
const rounds = 24
const exportedBatches = 25

const newBatch = () =>
  Array.from({ length: batchSize }, (_none, at) =>
    toLogRecord(
      valuesForTests({
        id: newId('req'),
        userId: `user_${at % accounts}`,
        callerUser: 'x'.repeat(60),
        metadata: { task: crypto.randomUUID() },
      }),
    ),
  )

const median = (times: readonly number[]) =>
  times.toSorted((one, other) => one - other)[times.length >> 1] ?? 0

await using stack = new AsyncDisposableStack()
const { database, newExporter } = await createExportFixture(stack)
const { query } = database
await makePartitions(query, 'request_log', (_name, error) => {
  throw error
})

/** Returns the milliseconds of an insertion, as booking does it. */
async function insert(): Promise<number> {
  const batch = newBatch()
  const startMs = performance.now()
  await insertLogs(query, batch)
  return performance.now() - startMs
}

for (let round = 0; round < 5; round++) await insert()
const without: number[] = []
const withQueue: number[] = []
for (let round = 0; round < rounds; round++) {
  await closeQueue(query)
  without.push(await insert())
  await openQueue(query)
  withQueue.push(await insert())
}
console.log(
  `insertion of ${batchSize} logs: ${median(without).toFixed(1)} ms, with the queue ${median(withQueue).toFixed(1)} ms`,
)

const exporter = newExporter()
await exporter.run()
for (let batch = 0; batch < exportedBatches; batch++) await insert()
await ageQueue(database)
const before = exporter.counts.exported
const cpu = process.cpuUsage()
const startMs = performance.now()
await exporter.run()
const seconds = (performance.now() - startMs) / 1000
const { user, system } = process.cpuUsage(cpu)
const exported = exporter.counts.exported - before
console.log(
  `export of ${exported} logs to ${isReal ? 'ClickHouse' : 'the stand-in'}: ${Math.round(exported / seconds)} per second, ${((user + system) / exported).toFixed(1)} µs of this process's CPU each`,
)
