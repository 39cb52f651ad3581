// Measures what a plain chat request costs PostgreSQL: CPU, time and WAL by statement, and bytes by table
// and index. Needs Debian's PostgreSQL, as its extension pg_stat_statements counts.
// Run by: npm run bench database [seconds]
import type { SQL } from 'bun'
import { startPostgres } from '../tests/harness/postgres-server'
import { measure, sound } from './compare/measure'
import { scenarioNamed } from './compare/scenarios'
import { startLoad } from './load/load'
import { cpuOf } from './process-tree'
import { startOn } from './subjects/tollgate'

const seconds = Number(process.argv[2] ?? 10)
const warmUpSeconds = 10
const scenario = scenarioNamed('chat-64')
const maxStatements = 15

interface Statement {
  query: string
  calls: number
  micros: number
  wal: number
}

interface Relation {
  name: string
  bytes: number
}

/** Collapses a statement to its verb and what follows, for one line of a table. */
const titleOf = (query: string) => query.replace(/\s+/g, ' ').trim().slice(0, 90)

const readStatements = (sql: SQL): Promise<Statement[]> => sql`
  select query, calls::float as calls, total_exec_time * 1000 as micros, wal_bytes::float as wal
  from pg_stat_statements where calls > 0 order by total_exec_time desc`

const readRelations = (sql: SQL): Promise<Relation[]> => sql`
  select relname as name, pg_relation_size(oid)::float as bytes from pg_class
  where relkind in ('r', 'i', 't') and relnamespace = 'public'::regnamespace`

async function readWal(sql: SQL): Promise<number> {
  const [row] = await sql<
    { bytes: number }[]
  >`select (pg_current_wal_lsn() - '0/0')::float as bytes`
  return row?.bytes ?? 0
}

await using load = await startLoad()
await using postgres = await startPostgres({
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'all',
})
await using sql = postgres.connectAdmin()
await sql`create extension pg_stat_statements`
await using subject = await startOn(postgres)
sound(await measure(load, subject, { scenario, seconds: warmUpSeconds, round: 0 }))
await sql`select pg_stat_statements_reset()`
const before = { cpu: cpuOf([postgres.pid]).all, wal: await readWal(sql), sizes: await sizes() }
const { finished, rate, cpu } = sound(await measure(load, subject, { scenario, seconds, round: 1 }))
const each = (amount: number) => (amount / finished).toFixed(1)

async function sizes(): Promise<Map<string, number>> {
  return new Map((await readRelations(sql)).map(({ name, bytes }) => [name, bytes]))
}

console.log(
  `${finished} requests, ${rate.toFixed(0)} a second; gateway ${cpu.own.toFixed(1)} µs each`,
)
console.log(`PostgreSQL: ${each(cpuOf([postgres.pid]).all - before.cpu)} µs CPU a request`)
console.log(`WAL: ${each((await readWal(sql)) - before.wal)} bytes a request`)
console.log('\nµs a request  bytes of WAL  calls a second  statement')
const statements = await readStatements(sql)
for (const { query, calls, micros, wal } of statements.slice(0, maxStatements)) {
  const figures = [
    each(micros).padStart(12),
    each(wal).padStart(12),
    (calls / seconds).toFixed(1).padStart(14),
  ]
  console.log(`${figures.join('  ')}  ${titleOf(query)}`)
}
console.log('\nbytes a request  table or index')
const grown = [...(await sizes())]
  .map(([name, bytes]) => ({ name, grown: bytes - (before.sizes.get(name) ?? 0) }))
  .filter((relation) => relation.grown > finished)
for (const { name, grown: bytes } of grown.toSorted((a, b) => b.grown - a.grown)) {
  console.log(`${each(bytes).padStart(15)}  ${name}`)
}
