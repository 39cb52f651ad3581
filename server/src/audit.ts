import { sql, type Kysely } from 'kysely'
import { readAuditConfig, StartError } from './config'
import { Database } from './db/database'
import type { Schema } from './db/schema'
import { audit, count, lookForWarnings } from './ledger/audit'
import { asJson, asText, type Report } from './start/audit-report'
import { findDatabase } from './start/find-database'

/** A statement may look at years. */
const statementMs = 3_600_000

const say = (line: string) => process.stderr.write(`tollgate audit: ${line}\n`)

/** Everything there is, as it was at one moment. */
const look = (db: Kysely<Schema>, longestRequestMs: number): Promise<Report> =>
  db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => ({
      violations: await audit(trx, {}),
      warnings: await lookForWarnings(trx, longestRequestMs),
      counts: await count(trx),
    }))

async function checkSchema(db: Kysely<Schema>): Promise<void> {
  const { rows } = await sql<{ isThere: boolean }>`
    select to_regclass('config') is not null as "isThere"`.execute(db)
  if (rows[0]?.isThere) return
  throw new StartError('The database is not up to date. Start this version of the server once.')
}

/** Operators may let requests run longer than the environment does. */
async function longestSetMs(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ longestMs: number | null }>`
    select greatest(
      (settings #>> '{timers,requestMs}')::float8, (settings #>> '{timers,streamMs}')::float8
    ) as "longestMs" from config`.execute(db)
  return rows[0]?.longestMs ?? 0
}

const onError = (error: Error) => say(error.message)

/** Looks, prints, and returns the exit status. Throws what kept it from looking. */
async function main(args: readonly string[]): Promise<number> {
  const unknown = args.find((argument) => argument !== '--json')
  if (unknown !== undefined) throw new StartError(`There is no option "${unknown}", only --json.`)
  const config = readAuditConfig(process.env)
  await using stack = new AsyncDisposableStack()
  const address = await findDatabase(config, stack, say)
  const database = stack.use(new Database(address, { poolSize: 1, statementMs, onError }))
  await checkSchema(database.query)
  const longestMs = Math.max(config.longestRequestMs, await longestSetMs(database.query))
  const report = await look(database.query, longestMs)
  process.stdout.write(args.includes('--json') ? asJson(report) : asText(report))
  return report.violations.length > 0 ? 1 : 0
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (thrown) {
  say(thrown instanceof Error ? thrown.message : String(thrown))
  process.exitCode = 2
}
