import { sql, type Kysely } from 'kysely'
import { owned, type AccountTable } from './owned'
import { isId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { ApiError, invalidRequest } from '../../../errors'
import { streamTimed, type StreamTimeouts } from '../../../http/timed-stream'

const rowsPerStatement = 500

/** An export holds a database connection and its snapshot. */
const usual: StreamTimeouts = { maxDurationMs: 600_000, stalledMs: 60_000 }

/** Returns the account's own address; undefined for an unknown account. */
async function addressOf(db: Kysely<Schema>, id: string): Promise<string | undefined> {
  if (!isId('user', id)) return undefined
  const row = await db.selectFrom('users').select('email').where('id', '=', id).executeTakeFirst()
  return row?.email
}

/** Rows of an account that are stored outside of the database. */
export type OtherRows = (
  userId: string,
) => AsyncIterable<readonly { table: string; row: Readonly<Record<string, unknown>> }[]>

async function* noOthers() {}

// Amounts are written as numbers, as the database does.
const toJson = (_name: string, value: unknown) =>
  typeof value === 'bigint' ? Number(value) : value

/** Returns the condition of an account's rows in a table; a cursor has no parameters. */
function toCondition({ by = 'user_id', through }: AccountTable, id: string, email: string) {
  if (through) {
    return sql`${sql.ref(through.column)} in (
      select id from ${sql.table(through.table)} where user_id = ${sql.lit(id)}
    )`
  }
  return sql`${sql.ref(by)} = ${sql.lit(by === 'recipient' || by === 'email' ? email : id)}`
}

/** Yields a line of JSON for each row that belongs to an account: from one snapshot, then those stored elsewhere. */
async function* linesOf(
  { db, others }: ExportSources,
  id: string,
  email: string,
): AsyncGenerator<string> {
  const trx = await db
    .startTransaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute()
  try {
    for (const [table, description] of Object.entries(owned)) {
      const { without = [] } = description
      const isOwned = toCondition(description, id, email)
      await sql`
        declare owned no scroll cursor for
        select (to_jsonb(one) - ${sql.lit(`{${without.join(',')}}`)}::text[])::text as row
        from ${sql.table(table)} as one where ${isOwned}`.execute(trx)
      for (;;) {
        const { rows } = await sql<{ row: string }>`
          fetch ${sql.raw(String(rowsPerStatement))} from owned`.execute(trx)
        if (rows.length === 0) break
        yield rows.map(({ row }) => `{"table":"${table}","row":${row}}\n`).join('')
      }
      await sql`close owned`.execute(trx)
    }
  } finally {
    await trx.rollback().execute()
  }
  for await (const rows of others(id)) {
    yield rows.map((one) => `${JSON.stringify(one, toJson)}\n`).join('')
  }
}

interface ExportSources {
  db: Kysely<Schema>
  others: OtherRows
}

interface Options {
  timeouts?: StreamTimeouts | undefined
  others?: OtherRows | undefined
}

/**
 * Exports all rows of an account, without secrets; one export per account at a time. Rejects with
 * `resource_not_found`, and `invalid_request` while another is running.
 */
export function createExports(
  db: Kysely<Schema>,
  { timeouts = usual, others = noOthers }: Options = {},
) {
  const running = new Set<string>()
  return async (id: string): Promise<ReadableStream<Uint8Array>> => {
    const email = await addressOf(db, id)
    if (email === undefined) throw new ApiError('resource_not_found')
    if (running.has(id)) {
      throw invalidRequest(
        null,
        'wrong_state',
        'The account is being exported. Retry when the export has finished.',
      )
    }
    running.add(id)
    return streamTimed(linesOf({ db, others }, id, email), timeouts, () => running.delete(id))
  }
}
