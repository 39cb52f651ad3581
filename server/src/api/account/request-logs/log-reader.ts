import type { Kysely, RawBuilder } from 'kysely'
import { listedColumns, type ListedLog, type LogRow } from './log-answer'
import type { RequestLogFilter } from './schema'
import { matchFilter, readSums } from './stats'
import { readSamples, readTimings } from './timings'
import { queryPageRows } from '../../../http/paged-rows'
import type { Page } from '../../../http/paging'
import type { Schema } from '../../../platform/db/schema'
import { everyAccount, type LogOwner } from '../../../request-logs/log-owner'
import type { LogSums } from '../../../request-logs/log-sums'
import type { LogTimings, TimingSamples } from '../../../request-logs/timing-samples'

/** The bodies of a request, where they were stored. */
export interface LogBodies {
  request_body: string | null
  response_body: string | null
}

/** Reads the logs of an account, or of all, wherever they are stored. */
export interface LogReader {
  /** Reads a page of logs, and one more if there is one; and the number of all logs. */
  list: (
    owner: LogOwner,
    filter: RequestLogFilter,
    page: Page,
  ) => Promise<{ total: bigint; rows: ListedLog[] }>
  find: (owner: LogOwner, id: string) => Promise<LogRow | undefined>
  findBodies: (row: LogRow) => Promise<LogBodies | undefined>
  sums: (owner: LogOwner, filter: RequestLogFilter) => Promise<LogSums>
  timings: (owner: LogOwner, filter: RequestLogFilter) => Promise<LogTimings>
}

/** A reader whose timings can be added to those of another store. */
export interface SampledLogReader extends LogReader {
  samples: (owner: LogOwner, filter: RequestLogFilter) => Promise<TimingSamples>
}

/** Reads the logs in PostgreSQL. */
export function createLogReader(db: Kysely<Schema>): SampledLogReader {
  const matching =
    <Result>(read: (db: Kysely<Schema>, condition: RawBuilder<boolean>) => Promise<Result>) =>
    (owner: LogOwner, filter: RequestLogFilter) =>
      read(db, matchFilter(owner, filter))
  return {
    list: (owner, filter, page) =>
      queryPageRows(
        db,
        db.selectFrom('request_log').select(listedColumns).where(matchFilter(owner, filter)),
        { page },
      ),
    find: (owner, id) =>
      db
        .selectFrom('request_log')
        .selectAll()
        .where('id', '=', id)
        .$if(owner !== everyAccount, (all) => all.where('user_id', '=', String(owner)))
        .executeTakeFirst(),
    findBodies: ({ id, user_id: userId, started_at: startedAt }) =>
      db
        .selectFrom('request_body')
        .select(['request_body', 'response_body'])
        .where('id', '=', id)
        .where('started_at', '=', startedAt)
        .where('user_id', '=', userId)
        .executeTakeFirst(),
    sums: matching(readSums),
    timings: matching(readTimings),
    samples: matching(readSamples),
  }
}
