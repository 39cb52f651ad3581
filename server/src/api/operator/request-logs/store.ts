import type { Kysely } from 'kysely'
import type { OperatedLogDetails, OperatedLogFilter } from './schema'
import { toAttempts } from '../../account/request-logs/attempts'
import { toBoundedFilter } from '../../account/request-logs/bounded-filter'
import { toListed, toLog, type LogRow } from '../../account/request-logs/log-answer'
import { readLogNames } from '../../account/request-logs/names'
import type { RequestLogStoreOptions } from '../../account/request-logs/store'
import { toPaged, type Page } from '../../../http/paging'
import { requireRow } from '../../../platform/db/account-row'
import type { Schema } from '../../../platform/db/schema'
import { everyAccount } from '../../../request-logs/log-owner'
import { revenueOf } from '../../../request-logs/platform-fee'
import { toUsd, toUsdOrNull } from '../../../wire/usd'

const dayMs = 86_400_000

export type OperatedRequestLogStore = ReturnType<typeof createOperatedRequestLogStore>

/** Request logs of all accounts, for operators, without bodies. */
export const createOperatedRequestLogStore = ({
  db,
  reader,
  waitForLogs,
}: RequestLogStoreOptions) => ({
  async list({ user_id: userId, ...filter }: OperatedLogFilter, page: Page) {
    await waitForLogs()
    const within = userId === undefined ? toDays(filter) : toBoundedFilter(filter)
    const { total, rows } = await reader.list(userId ?? everyAccount, within, page)
    const { items, pagination } = toPaged(page, total, rows)
    const [emails, names] = await Promise.all([
      readEmails(
        db,
        items.map((row) => row.user_id),
      ),
      readLogNames(db, items),
    ])
    const logs = items.map((row) => ({
      user_id: row.user_id,
      email: emails.get(row.user_id) ?? null,
      ...toListed(row, names),
    }))
    return { logs, pagination }
  },
  /** Rejects with `resource_not_found` for an unknown id. */
  async details(id: string): Promise<OperatedLogDetails> {
    await waitForLogs()
    const row = await requireRow('req', id, () => reader.find(everyAccount, id))
    const [attempted, names, emails] = await Promise.all([
      toAttempts(db, row, everyAccount),
      readLogNames(db, [row]),
      readEmails(db, [row.user_id]),
    ])
    return {
      user_id: row.user_id,
      email: emails.get(row.user_id) ?? null,
      ...toLog(row, names),
      ...attempted,
      ...toMargin(row),
    }
  },
})

function toMargin(row: LogRow) {
  const { billing_mode: billingMode, cost, platform_fee: platformFee, provider_cost: bill } = row
  const revenue = revenueOf({ billingMode, cost, platformFee })
  return {
    revenue: toUsd(revenue),
    provider_cost: toUsdOrNull(bill),
    margin: bill === null ? null : toUsd(revenue - bill),
  }
}

/** Bounds the period of a list of all accounts: without a start it is the day before its end. */
function toDays(filter: Omit<OperatedLogFilter, 'user_id'>): Omit<OperatedLogFilter, 'user_id'> {
  if (filter.search) return toBoundedFilter(filter, 1)
  const end = filter.end_date?.getTime() ?? Date.now()
  return { ...filter, start_date: filter.start_date ?? new Date(end - dayMs) }
}

async function readEmails(
  db: Kysely<Schema>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  if (ids.length === 0) return new Map()
  const users = await db
    .selectFrom('users')
    .select(['id', 'email'])
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return new Map(users.map(({ id, email }) => [id, email]))
}
