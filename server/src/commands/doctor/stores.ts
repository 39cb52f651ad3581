import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sql, type Kysely } from 'kysely'
import { failure, fine, warning, formatFinding, type DoctorFinding } from './finding'
import { lookAtPermissions } from './permissions'
import type { Config } from '../../platform/config/config'
import { Database, type DatabaseAddress } from '../../platform/db/database'
import { findPooler, findRejection, poolerAdvice } from '../../platform/db/direct-connection'
import { hasDatabase, findRunningServer } from '../../platform/embedded-postgres/running'
import { openSealingKeys } from '../../platform/db/installation'
import { migrationNames, readMigrations } from '../../platform/db/migrate'
import { Redis, toScript } from '../../platform/redis'
import type { Schema } from '../../platform/db/schema'
import { checkSealingKeys } from '../../server/sealing-keys'

const statementMs = 10_000
const oldestPostgres = 150_000
const maxSkewMs = 2000

/** Returns the address of the database, or a finding that ends the check of it. */
export async function findAddress({
  databaseUrl,
  dataDir,
}: Config): Promise<DatabaseAddress | DoctorFinding> {
  if (databaseUrl) return { connectionString: databaseUrl }
  if (!(await hasDatabase(dataDir))) {
    return fine('database', 'embedded; the first start creates it')
  }
  const running = await findRunningServer(dataDir).catch(() => undefined)
  return running ?? fine('database', 'embedded; it exists, and does not run')
}

/** Runs all checks of the database. */
export async function lookAtDatabase(config: Config): Promise<DoctorFinding[]> {
  const address = await findAddress(config)
  if ('state' in address) return [address]
  await using database = new Database(address, {
    poolSize: 1,
    statementMs,
    onError: () => undefined,
  })
  try {
    await database.ping()
  } catch (thrown) {
    const rejected = findRejection(thrown)
    if (rejected) return [pooler(rejected)]
    const fix = config.databaseUrl
      ? 'Check host, user, password and database of DATABASE_URL, and that the server runs.'
      : 'Wait until the server has started, or stop it and start it again.'
    return [failure('database', `it does not answer: ${formatFinding(thrown)}`, fix)]
  }
  const poolerName = config.databaseUrl === undefined ? undefined : await findPooler(database)
  if (poolerName) return [pooler(poolerName)]
  const { query } = database
  const applied = await readMigrations(query)
  const findings = [
    await lookAtVersion(query, config),
    await lookAtPermissions(query),
    lookAtSchema(applied),
    await lookAtClock(query),
  ]
  if (!migrationNames.every((name) => applied.includes(name))) return findings
  return [...findings, await lookAtKey(query, config), await lookAtOrphans(query)]
}

const pooler = (what: string) =>
  failure('database', `DATABASE_URL leads through a pooler that ${what}`, poolerAdvice)

async function lookAtVersion(query: Kysely<Schema>, config: Config): Promise<DoctorFinding> {
  const { rows } = await sql<{ number: number; version: string }>`
    select current_setting('server_version_num')::integer as number,
      current_setting('server_version') as version`.execute(query)
  const [row] = rows
  const what = `PostgreSQL ${row?.version}, ${config.databaseUrl ? 'of your own' : 'embedded'}`
  if ((row?.number ?? 0) >= oldestPostgres) return fine('database', what)
  return failure('database', what, 'Tollgate needs PostgreSQL 15 or later.')
}

function lookAtSchema(applied: readonly string[]): DoctorFinding {
  if (applied.length === 0) {
    return warning('schema', 'the database is empty', 'The first start makes all that is needed.')
  }
  const later = applied.filter((name) => !migrationNames.includes(name))
  if (later.length > 0) {
    // Each version keeps the schema compatible with the version before.
    const what = `a later Tollgate has used the database: ${later.join(', ')}`
    return warning(
      'schema',
      what,
      'While versions change that is as it should be, else run that one.',
    )
  }
  const pending = migrationNames.filter((name) => !applied.includes(name))
  if (pending.length === 0) return fine('schema', 'up to date')
  const what = `${pending.length} migrations are pending, from ${pending[0]} on`
  return warning('schema', what, 'Start this version, or run "tollgate migrate".')
}

/**
 * Returns the least skew, in milliseconds, of a clock that read `reportedMs` at a moment between `beganMs` and `endedMs` of this
 * machine: a slow answer is no skew.
 */
export function minSkewMs(
  reportedMs: number,
  [beganMs, endedMs]: readonly [number, number],
): number {
  return Math.max(0, beganMs - reportedMs, reportedMs - endedMs)
}

async function lookAtClock(query: Kysely<Schema>): Promise<DoctorFinding> {
  const beganMs = Date.now()
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(query)
  const skewMs = minSkewMs(rows[0]?.now.getTime() ?? beganMs, [beganMs, Date.now()])
  const what = `${Math.round(skewMs)} ms from that of the database`
  if (skewMs <= maxSkewMs) return fine('clock', what)
  return warning('clock', what, 'Keep both machines in time by NTP: leases and limits go by it.')
}

async function lookAtKey(query: Kysely<Schema>, config: Config): Promise<DoctorFinding> {
  const path = join(config.dataDir, 'encryption-key')
  if (!config.encryptionKeys && !existsSync(path)) {
    const fix = 'Restore it from where you keep it: without it the stored secrets are lost.'
    return failure('encryption key', `${path} is missing, and ENCRYPTION_KEY is not set`, fix)
  }
  const warnings: string[] = []
  try {
    const keys = await openSealingKeys(config.dataDir, config)
    await checkSealingKeys(query, keys, (line) => warnings.push(line))
  } catch (thrown) {
    const fix =
      'Set ENCRYPTION_KEY to the key that encrypted them; list all of them if there are several.'
    return failure('encryption key', formatFinding(thrown), fix)
  }
  const [firstWarning] = warnings
  if (firstWarning === undefined) return fine('encryption key', 'it decrypts all stored secrets')
  return warning(
    'encryption key',
    firstWarning,
    'Add the former key behind the first in ENCRYPTION_KEY.',
  )
}

async function lookAtOrphans(query: Kysely<Schema>): Promise<DoctorFinding> {
  const { rows } = await sql<{ orphans: number; old: number }>`
    select count(*)::integer as orphans,
      (count(*) filter (where started_at < now() - interval '1 day'))::integer as old
    from usage_event where state = 'orphan'`.execute(query)
  const { orphans = 0, old = 0 } = rows[0] ?? {}
  const what = `${orphans} attempts of processes that died, ${old} of them older than a day`
  if (old === 0) return fine('orphans', orphans === 0 ? 'none' : what)
  return warning('orphans', what, 'They were charged nothing; compare with the bills of providers.')
}

const redisTimeoutMs = 3000
const timeCommand = toScript("return redis.call('TIME')")

export async function lookAtRedis({ redisUrl }: Config): Promise<DoctorFinding> {
  if (redisUrl === undefined)
    return fine(
      'redis',
      'not set up: limits are counted in this process, or shared through PostgreSQL',
    )
  const failures: string[] = []
  using redis = new Redis(redisUrl, {
    probe: (one) => one.evaluate(timeCommand, [], []),
    onError: (error) => failures.push(formatFinding(error)),
    onBack: () => undefined,
  })
  const endsAt = performance.now() + redisTimeoutMs
  while (performance.now() < endsAt) {
    const answer = await redis.run(timeCommand, [], []).catch(() => undefined)
    if (answer !== undefined) return fine('redis', 'it answers')
    await Bun.sleep(50)
  }
  const fix = 'Check host and password of REDIS_URL, and that it runs.'
  return failure('redis', `it does not answer${failures[0] ? `: ${failures[0]}` : ''}`, fix)
}
