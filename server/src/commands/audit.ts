import { sql, type Kysely } from 'kysely'
import { readAuditConfig, StartError } from '../platform/config/config'
import { Database } from '../platform/db/database'
import type { Schema } from '../platform/db/schema'
import { findViolations, count, lookForWarnings } from '../ledger/audit'
import { formatAsJson, formatAsText, type Report } from '../server/audit-report'
import { runCommand, type CommandOptions } from '../server/command'
import { findDatabase } from '../server/find-database'
import { readEnvironment } from '../server/environment'

/** A statement may read years of data. */
const statementMs = 3_600_000

const print = (line: string) => process.stderr.write(`tollgate audit: ${line}\n`)

/** Audits the whole database as of one moment. */
const look = (db: Kysely<Schema>, maxRequestMs: number): Promise<Report> =>
  db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => ({
      violations: await findViolations(trx, {}),
      warnings: await lookForWarnings(trx, maxRequestMs),
      counts: await count(trx),
    }))

async function checkSchema(db: Kysely<Schema>): Promise<void> {
  const { rows } = await sql<{ isThere: boolean }>`
    select to_regclass('config') is not null as "isThere"`.execute(db)
  if (rows[0]?.isThere) return
  throw new StartError('The database is not up to date. Start this version of the server once.')
}

/**
 * Returns the longest request timeout that operators have set, which may exceed that of the environment; 0 for none.
 */
async function findMaxRequestMs(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ maxMs: number | null }>`
    select greatest(
      (settings #>> '{timers,requestMs}')::float8, (settings #>> '{timers,streamMs}')::float8
    ) as "maxMs" from config`.execute(db)
  return rows[0]?.maxMs ?? 0
}

const help = `Usage: tollgate audit [--json]

Checks the whole ledger, as of one moment. The server may run or not; nothing is changed.

  --json       for programs

DATA_DIR or DATABASE_URL names the database, as for the server.
Exit codes: 0 in order, 1 not in order, 2 invalid command line or it could not check.
`

const onError = (error: Error) => print(error.message)

/** Runs the audit, prints its report, and returns the exit status. Throws when it could not run. */
async function run({ has }: CommandOptions): Promise<number> {
  const config = readAuditConfig(readEnvironment())
  await using stack = new AsyncDisposableStack()
  const address = await findDatabase(config, stack, print)
  const database = stack.use(new Database(address, { poolSize: 1, statementMs, onError }))
  await checkSchema(database.query)
  const maxMs = Math.max(config.maxRequestMs, await findMaxRequestMs(database.query))
  const report = await look(database.query, maxMs)
  process.stdout.write(has('json') ? formatAsJson(report) : formatAsText(report))
  return report.violations.length > 0 ? 1 : 0
}

await runCommand({ name: 'audit', help, run })
