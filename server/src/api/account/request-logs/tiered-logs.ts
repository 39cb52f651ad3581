import type { Kysely } from 'kysely'
import { earlierOf, laterOf } from './bounded-filter'
import { selectConnections } from './gateway-filter'
import type { LogReader, SampledLogReader } from './log-reader'
import type { RequestLogFilter } from './schema'
import { ApiError } from '../../../errors'
import { ClickHouseRejection, ClickHouseUnavailable } from '../../../platform/clickhouse/failure'
import { getIdTime } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import type { LogConditions, LogQuery } from '../../../request-logs/clickhouse/conditions'
import type { StoredLogs } from '../../../request-logs/clickhouse/stored-logs'
import { everyAccount, type LogOwner } from '../../../request-logs/log-owner'
import { idSlackMs } from '../../../request-logs/log-search'
import { addSums } from '../../../request-logs/log-sums'
import {
  addSamples,
  countSampled,
  maxTimedRequests,
  maxWeighedRequests,
  toTimings,
} from '../../../request-logs/timing-samples'
import { splitTags } from '../../../wire/tags'

const dayMs = 86_400_000

interface TieredOptions {
  db: Kysely<Schema>
  /** Reads the logs of the recent days. */
  recent: SampledLogReader
  /** Reads those of the days before. */
  older: StoredLogs
  /** Resolves with the day from which on PostgreSQL has all logs; undefined if it has all that there are. */
  recentSince: () => Promise<Date | undefined>
  /** The full days after which logs are deleted. */
  retentionDays: () => number
}

/** A read of both stores: they have the logs of different days. */
interface Parts {
  recent: RequestLogFilter
  /** Undefined where PostgreSQL has all that the filter may match. */
  older: LogQuery | undefined
}

/**
 * Reads logs of the recent days in PostgreSQL, and those of the days before in ClickHouse. While that does not answer,
 * all reads that require it reject with `gateway_unavailable`.
 */
export function createTieredLogs(options: TieredOptions): LogReader {
  const { recent, older } = options
  return {
    list: async (owner, filter, page) => {
      const parts = await divide(options, owner, filter)
      const read = await recent.list(owner, parts.recent, page)
      if (!parts.older) return read
      const query = { ...parts.older, before: page.before }
      const limit = page.limit + 1 - read.rows.length
      const offset = Math.max(0, page.offset - Number(read.total))
      const [count, rows] = await reading(parts.older, () =>
        Promise.all([
          older.count(parts.older ?? query),
          limit > 0 ? older.list(query, { limit, offset }) : [],
        ]),
      )
      return { total: read.total + count, rows: [...read.rows, ...rows] }
    },
    find: async (owner, id) => {
      // Also a log of an earlier day may still wait here.
      const row = await recent.find(owner, id)
      const since = row ? undefined : await options.recentSince()
      if (row || !since || getIdTime(id) >= since.getTime() + idSlackMs) return row
      // The time in the id names the day to look into.
      const from = laterOf(new Date(getIdTime(id) - idSlackMs), oldestTime(options))
      const to = new Date(getIdTime(id) + idSlackMs)
      if (from >= to) return undefined
      return reading({ to: since }, () => older.find({ userId: idOf(owner), from, to }, id))
    },
    findBodies: async (row) => {
      const bodies = await recent.findBodies(row)
      const since = bodies ? undefined : await options.recentSince()
      if (bodies || !since || row.started_at >= since) return bodies
      return reading({ to: since }, () => older.findBodies(row.user_id, row.id))
    },
    sums: async (owner, filter) => {
      const { recent: own, older: query } = await divide(options, owner, filter)
      if (!query) return recent.sums(owner, own)
      const [one, other] = await Promise.all([
        recent.sums(owner, own),
        reading(query, () => older.sums(query)),
      ])
      return addSums(one, other)
    },
    timings: async (owner, filter) => {
      const { recent: own, older: query } = await divide(options, owner, filter)
      if (!query) return recent.timings(owner, own)
      const newest = await recent.samples(owner, own)
      const read = countSampled(newest.latencies)
      const limits = {
        timed: Math.max(0, maxTimedRequests - read),
        weighed: Math.max(0, maxWeighedRequests - read),
      }
      const before = await reading(query, () => older.samples(query, limits))
      return toTimings(addSamples(newest, before))
    },
  }
}

const idOf = (owner: LogOwner) => (owner === everyAccount ? undefined : owner)

/** Returns the beginning of the first day whose logs are not deleted yet. */
const oldestTime = ({ retentionDays }: Pick<TieredOptions, 'retentionDays'>): Date =>
  new Date((Math.floor(Date.now() / dayMs) - retentionDays()) * dayMs)

/** Divides a filter between the stores. */
async function divide(
  options: TieredOptions,
  owner: LogOwner,
  filter: RequestLogFilter,
): Promise<Parts> {
  const since = await options.recentSince()
  if (!since) return { recent: filter, older: undefined }
  const recent = { ...filter, start_date: laterOf(filter.start_date, since) }
  const from = laterOf(filter.start_date, oldestTime(options))
  const to = earlierOf(filter.end_date, since)
  if (from >= to) return { recent, older: undefined }
  const { gateway_id: gatewayId } = filter
  const connectionIds =
    gatewayId === undefined ? undefined : await findConnections(options.db, owner, gatewayId)
  if (connectionIds?.length === 0) return { recent, older: undefined }
  return {
    recent,
    older: { userId: idOf(owner), ...toConditions(filter), connectionIds, from, to },
  }
}

const toConditions = (filter: RequestLogFilter): LogConditions => ({
  ...filter.search,
  model: filter.model,
  provider: filter.provider,
  status: filter.status,
  keyId: filter.api_key_id,
  tags: filter.tag === undefined ? undefined : splitTags(filter.tag),
  minLatencyMs: filter.min_latency,
  maxLatencyMs: filter.max_latency,
})

/** Finds the connections of a gateway; none of one that the account may not see. */
async function findConnections(
  db: Kysely<Schema>,
  owner: LogOwner,
  gatewayId: string,
): Promise<string[]> {
  const { rows } = await selectConnections(owner, gatewayId).execute(db)
  return rows.map(({ id }) => id)
}

/** Reads in ClickHouse. Rejects with `gateway_unavailable`. */
async function reading<Result>(
  { to }: Pick<LogQuery, 'to'>,
  read: () => Promise<Result>,
): Promise<Result> {
  try {
    return await read()
  } catch (thrown) {
    const isAway = thrown instanceof ClickHouseUnavailable || thrown instanceof ClickHouseRejection
    if (!isAway) throw thrown
    const day = to?.toISOString().slice(0, 10)
    throw new ApiError('gateway_unavailable', {
      message: `Request logs from before ${day} are not available at the moment. Retry shortly; start_date=${day} lists later ones.`,
      retryAfterSeconds: 5,
      cause: thrown,
    })
  }
}
