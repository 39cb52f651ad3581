import { sql, type Kysely } from 'kysely'

/** Failed requests are searched by their errors, and they are few among all requests. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index request_log_failed on request_log (user_id, id desc) where status = 'error'
  `.execute(db)
}
