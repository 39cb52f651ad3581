import { sql, type Kysely } from 'kysely'
import { owned } from './owned'
import { isId } from '../../db/id'
import type { Schema } from '../../db/schema'
import { ApiError, invalidRequest } from '../../errors'

const rowsAtOnce = 500

/** An export holds a connection to the database, and what it sees there. */
export interface ExportTimeouts {
  /** For all of it. */
  longestMs: number
  /** For whoever reads it, between two pieces. */
  stalledMs: number
}

const usual: ExportTimeouts = { longestMs: 600_000, stalledMs: 60_000 }

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

type Controller = ReadableStreamDefaultController<Uint8Array>

/** Nothing is read before somebody asks for it. `onEnd` is called once the transaction has ended, however it did. */
function streamOf(
  lines: AsyncGenerator<string>,
  { longestMs, stalledMs }: ExportTimeouts,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let isOver = false
  let whole: Timer | undefined
  let stalled: Timer | undefined
  const end = async () => {
    if (isOver) return
    isOver = true
    clearTimeout(whole)
    clearTimeout(stalled)
    await lines.return(undefined).catch(() => undefined)
    onEnd()
  }
  const expire = (controller: Controller) => {
    controller.error(new Error('the export took too long'))
    void end()
  }
  const source = {
    start(controller: Controller) {
      whole = setTimeout(expire, longestMs, controller)
      stalled = setTimeout(expire, stalledMs, controller)
    },
    async pull(controller: Controller) {
      clearTimeout(stalled)
      const next = await lines.next().catch(async (thrown: unknown) => {
        await end()
        throw thrown
      })
      if (isOver) return
      if (!next.done) {
        controller.enqueue(encoder.encode(next.value))
        stalled = setTimeout(expire, stalledMs, controller)
        return
      }
      await end()
      controller.close()
    },
    cancel: end,
  }
  return new ReadableStream(source, { highWaterMark: 0 })
}

/**
 * Exports all that an account owns, but for secrets; of one account, one at a time. Rejects with
 * `resource_not_found`, and `invalid_request` while another is under way.
 */
export function createExports(db: Kysely<Schema>, patience = usual) {
  const running = new Set<string>()
  return async (id: string): Promise<ReadableStream<Uint8Array>> => {
    const email = await addressOf(db, id)
    if (email === undefined) throw new ApiError('resource_not_found')
    if (running.has(id)) {
      throw invalidRequest(null, 'wrong_state', 'The account is being exported. Wait for its end.')
    }
    running.add(id)
    return streamOf(linesOf(db, id, email), patience, () => running.delete(id))
  }
}
