import { expect, test } from 'bun:test'
import { databaseUrl, openDatabase } from '../../harness/database'
import { startGateway } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'

/** The lock that Kysely takes while it migrates. */
const migrationLock = 3853314791062309107n

test('a node starts after another process has migrated for longer than a statement of a request may take', async () => {
  const environment = {
    ADMIN_KEY: `admin-of-nodes-${crypto.randomUUID()}`,
    ENCRYPTION_KEY: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64'),
  }
  await using first = await startGateway({ environment })
  await using watching = await openDatabase(first.dataDir)
  await using migrating = await openDatabase(first.dataDir)
  await migrating`begin`
  await migrating`select pg_advisory_xact_lock(${migrationLock})`
  const DATABASE_URL = await databaseUrl(first.dataDir)
  const starting = startGateway({ environment: { ...environment, DATABASE_URL } })
  const isOverdue = async () => {
    const [row] = await watching`
      select count(*) as waiting from pg_stat_activity
      where datname = current_database() and wait_event = 'advisory'
        and clock_timestamp() - query_start > interval '6.5 seconds'`
    return Number(row.waiting) > 0
  }
  await Promise.race([eventually(isOverdue, 60_000), starting])
  await migrating`commit`
  await using second = await starting
  const response = await second.recorder.fetch(`${second.url}/readyz`)
  expect(response.status).toBe(200)
}, 120_000)
