import type { Kysely } from 'kysely'
import { requireRow } from '../../../platform/db/account-row'
import { toAttempts } from './attempts'
import { toBoundedFilter } from './bounded-filter'
import { readLogNames, readOrganizationNames } from './names'
import type { RequestLogFilter, LogDetails } from './schema'
import { toListed, toLog, type LogRow } from './log-answer'
import type { LogReader } from './log-reader'
import { toPaidGroups } from './paid-groups'
import { toPeriod, toStats } from './stats'
import type { Schema } from '../../../platform/db/schema'
import { toPaged, type Page } from '../../../http/paging'

export interface RequestLogStoreOptions {
  db: Kysely<Schema>
  reader: LogReader
  /** Resolves once the logs of requests that have just ended on this node are readable; soon, and never rejects. */
  waitForLogs: () => Promise<void>
}

export type RequestLogStore = ReturnType<typeof createRequestLogStore>

/** Request logs of accounts. All reject with `resource_not_found` for unknown and foreign ids. */
export const createRequestLogStore = ({ db, reader, waitForLogs }: RequestLogStoreOptions) => ({
  async list(userId: string, page: Page, filter: RequestLogFilter) {
    await waitForLogs()
    const { total, rows } = await reader.list(userId, toBoundedFilter(filter), page)
    const { items, pagination } = toPaged(page, total, rows)
    const names = await readLogNames(db, items)
    return { logs: items.map((row) => toListed(row, names)), pagination }
  },
  async stats(userId: string, filter: RequestLogFilter) {
    await waitForLogs()
    const bounded = toBoundedFilter(filter)
    const period = toPeriod(bounded)
    const within = { ...bounded, ...period }
    const [sums, timings] = await Promise.all([
      reader.sums(userId, within),
      reader.timings(userId, within),
    ])
    const names = await readOrganizationNames(
      db,
      sums.payers.map(({ name }) => name),
    )
    return toStats(period, { sums, timings, payers: toPaidGroups(userId, sums, names) })
  },
  async get(userId: string, id: string) {
    await waitForLogs()
    const row = await findRow(reader, userId, id)
    return toLog(row, await readLogNames(db, [row]))
  },
  async details(userId: string, id: string): Promise<LogDetails> {
    await waitForLogs()
    const row = await findRow(reader, userId, id)
    const [bodies, attempted, names] = await Promise.all([
      reader.findBodies(row),
      toAttempts(db, row, userId),
      readLogNames(db, [row]),
    ])
    return {
      ...toLog(row, names),
      request_body: bodies?.request_body ?? null,
      response_body: bodies?.response_body ?? null,
      ...attempted,
    }
  },
})

const findRow = (reader: LogReader, userId: string, id: string): Promise<LogRow> =>
  requireRow('req', id, () => reader.find(userId, id))
