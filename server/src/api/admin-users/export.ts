import { sql, type Kysely } from 'kysely'
import { owned } from './owned'
import { isId } from '../../db/id'
import type { Schema } from '../../db/schema'
import { ApiError } from '../../errors'

const rowsAtOnce = 500
/** Whoever does not read holds a connection to the database. */
const longestMs = 600_000

/** The account's own address; undefined where there is no such account. */
async function addressOf(db: Kysely<Schema>, id: string): Promise<string | undefined> {
  if (!isId('user', id)) return undefined
  const row = await db.selectFrom('users').select('email').where('id', '=', id).executeTakeFirst()
  return row?.email
}

/** A line of JSON for each row that belongs to an account, all as of one moment. */
async function* linesOf(db: Kysely<Schema>, id: string, email: string): AsyncGenerator<string> {
  const trx = await db
    .startTransaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute()
  try {
    for (const [table, { by = 'user_id', without = [] }] of Object.entries(owned)) {
      const whose = by === 'recipient' || by === 'email' ? email : id
      await sql`
        declare owned no scroll cursor for
        select (to_jsonb(one) - ${sql.lit(`{${without.join(',')}}`)}::text[])::text as row
        from ${sql.table(table)} as one where ${sql.ref(by)} = ${sql.lit(whose)}`.execute(trx)
      for (;;) {
        const { rows } = await sql<{ row: string }>`
          fetch ${sql.raw(String(rowsAtOnce))} from owned`.execute(trx)
        if (rows.length === 0) break
        yield rows.map(({ row }) => `{"table":"${table}","row":${row}}\n`).join('')
      }
      await sql`close owned`.execute(trx)
    }
  } finally {
    await trx.rollback().execute()
  }
}

/** All that an account owns, but for secrets. Rejects with `resource_not_found`. */
export async function exportUser(db: Kysely<Schema>, id: string): Promise<ReadableStream> {
  const email = await addressOf(db, id)
  if (email === undefined) throw new ApiError('resource_not_found')
  const lines = linesOf(db, id, email)
  const encoder = new TextEncoder()
  let timer: ReturnType<typeof setTimeout>
  const end = () => {
    clearTimeout(timer)
    return lines.return(undefined)
  }
  return new ReadableStream({
    start(controller) {
      timer = setTimeout(() => {
        controller.error(new Error('the export took too long'))
        void end()
      }, longestMs)
    },
    async pull(controller) {
      const { value, done } = await lines.next()
      if (!done) return controller.enqueue(encoder.encode(value))
      clearTimeout(timer)
      controller.close()
    },
    cancel: () => void end(),
  })
}
