import type { Kysely } from 'kysely'
import { requireRow } from '../../../platform/db/account-row'
import { toAttempts } from './attempts'
import type { RequestLogFilter, LogDetails } from './schema'
import { listedColumns, toListed, toLog, type LogRow } from './log-answer'
import { matchFilter, readStats } from './stats'
import type { Schema } from '../../../platform/db/schema'
import { queryPage } from '../../../http/paged-rows'
import type { Page } from '../../../http/paging'

interface RequestLogStoreOptions {
  db: Kysely<Schema>
  /** Resolves once the logs of requests that have just ended on this node are readable; soon, and never rejects. */
  written: () => Promise<void>
}

export type RequestLogStore = ReturnType<typeof createRequestLogStore>

/** Request logs of accounts. All reject with `resource_not_found` for unknown and foreign ids. */
export const createRequestLogStore = ({ db, written }: RequestLogStoreOptions) => ({
  async list(userId: string, page: Page, filter: RequestLogFilter) {
    await written()
    const query = db
      .selectFrom('request_log')
      .select(listedColumns)
      .where(matchFilter(userId, filter))
    const { shown, pagination } = await queryPage(db, query, { page })
    return { logs: shown.map(toListed), pagination }
  },
  async stats(userId: string, filter: RequestLogFilter) {
    await written()
    return readStats(db, userId, filter)
  },
  async get(userId: string, id: string) {
    await written()
    return toLog(await found(db, userId, id))
  },
  async details(userId: string, id: string): Promise<LogDetails> {
    await written()
    const row = await found(db, userId, id)
    const [bodies, attempted] = await Promise.all([bodiesOf(db, row), toAttempts(db, row)])
    return {
      ...toLog(row),
      request_body: bodies?.request_body ?? null,
      response_body: bodies?.response_body ?? null,
      ...attempted,
    }
  },
})

async function found(db: Kysely<Schema>, userId: string, id: string): Promise<LogRow> {
  return requireRow('req', id, () =>
    db
      .selectFrom('request_log')
      .selectAll()
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .executeTakeFirst(),
  )
}

const bodiesOf = (db: Kysely<Schema>, { id, user_id, started_at }: LogRow) =>
  db
    .selectFrom('request_body')
    .select(['request_body', 'response_body'])
    .where('id', '=', id)
    .where('started_at', '=', started_at)
    .where('user_id', '=', user_id)
    .executeTakeFirst()
