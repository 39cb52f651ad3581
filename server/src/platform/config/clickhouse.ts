import { z } from 'zod'
import { isClickHouseUrl, parseClickHouseUrl } from '../clickhouse/address'
import { integer, optional, url } from './fields'
import { setting } from './setting'

const hourMs = 3_600_000
const dayHours = 24

const ClickHouseUrl = url(/^https?$/)
  .refine(isClickHouseUrl, 'must be like https://user:password@host:8443/database')
  .transform(parseClickHouseUrl)

/** Settings of the column store of request logs. */
export const clickHouseSettings = z.object({
  address: setting(optional(ClickHouseUrl), {
    name: 'CLICKHOUSE_URL',
    doc: "the HTTP interface of a ClickHouse, and a database of Tollgate's own there, for request logs that outgrow PostgreSQL: `https://user:password@host:8443/database` ([log-store.md](log-store.md))",
    unset: 'logs stay in PostgreSQL',
  }),
  recentDays: setting(integer(2, 3650).default(3), {
    name: 'CLICKHOUSE_RECENT_DAYS',
    doc: 'number of full days for which request logs stay in PostgreSQL too, 2 to 3650, where `CLICKHOUSE_URL` is set; at least a day more than `JOURNAL_KEEP_HOURS`',
  }),
})

/**
 * Returns the days that PostgreSQL has to keep so that a restore, which books the journal once more, finds the logs
 * that it has booked before.
 */
export const minRecentDays = (journalKeptMs: number): number =>
  Math.ceil(journalKeptMs / (dayHours * hourMs)) + 1
