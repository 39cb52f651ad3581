import { z } from 'zod'
import { toCondition, type LogQuery } from './conditions'
import {
  bodyColumnList,
  BodyRow,
  ListedLogRow,
  listedColumnList,
  logColumnList,
  LogRow,
  StoredBodyRow,
} from './rows'
import { readStoredSamples, readStoredSums } from './stored-sums'
import type { LogSums } from '../log-sums'
import type { SampleLimits, TimingSamples } from '../timing-samples'
import type { ClickHouse } from '../../platform/clickhouse/client'
import type { RequestLogRow } from '../../platform/db/request-log-schema'

const Count = z.object({ total: z.coerce.bigint() })

/** A part of a list, newest first. */
interface ListRange {
  limit: number
  offset: number
}

/** Rows of one reading of an export of an account. */
const logsPerRead = 500
const bodiesPerRead = 50

/** A row of an account, and the table of PostgreSQL that it comes from. */
export interface OwnedLogRow {
  table: 'request_log' | 'request_body'
  row: Readonly<Record<string, unknown>>
}

/** Reads the logs of accounts in ClickHouse. */
export class StoredLogs {
  readonly #clickHouse: ClickHouse

  constructor(clickHouse: ClickHouse) {
    this.#clickHouse = clickHouse
  }

  async count(query: LogQuery): Promise<bigint> {
    const { text, parameters } = toCondition(query)
    const statement = {
      text: `SELECT count() AS total FROM request_log FINAL WHERE ${text}`,
      parameters,
    }
    const [row] = await this.#clickHouse.select(statement, Count)
    return row?.total ?? 0n
  }

  /** Lists logs by descending id. */
  list(query: LogQuery, { limit, offset }: ListRange): Promise<ListedLogRow[]> {
    const { text, parameters } = toCondition(query)
    const statement = {
      text: `SELECT ${listedColumnList} FROM request_log FINAL WHERE ${text}
ORDER BY id DESC LIMIT {limit:UInt32} OFFSET {offset:UInt32}`,
      parameters: { ...parameters, limit, offset },
    }
    return this.#clickHouse.select(statement, ListedLogRow)
  }

  /** Finds a log among those of a query. */
  async find(query: LogQuery, id: string): Promise<RequestLogRow | undefined> {
    const { text, parameters } = toCondition(query)
    const statement = {
      text: `SELECT ${logColumnList} FROM request_log FINAL WHERE ${text} AND id = {id:String} LIMIT 1`,
      parameters: { ...parameters, id },
    }
    const [row] = await this.#clickHouse.select(statement, LogRow)
    return row
  }

  async findBodies(userId: string, id: string): Promise<z.output<typeof BodyRow> | undefined> {
    const { text, parameters } = toCondition({ userId })
    const statement = {
      text: `SELECT request_body, response_body FROM request_body FINAL WHERE ${text} AND id = {id:String} LIMIT 1`,
      parameters: { ...parameters, id },
    }
    const [row] = await this.#clickHouse.select(statement, BodyRow)
    return row
  }

  sums(query: LogQuery): Promise<LogSums> {
    return readStoredSums(this.#clickHouse, toCondition(query))
  }

  samples(query: LogQuery, limits: SampleLimits): Promise<TimingSamples> {
    return readStoredSamples(this.#clickHouse, toCondition(query), limits)
  }

  /** Yields all logs and bodies of an account that began before a time, with their columns of PostgreSQL. */
  async *rowsOf(userId: string, to: Date): AsyncGenerator<OwnedLogRow[]> {
    for await (const rows of this.#pages({ userId, to }, logsPerRead, (page) => this.#logs(page))) {
      yield rows.map((row) => ({ table: 'request_log', row: { ...row } }))
    }
    const bodies = (page: ReadPage) => this.#bodies(page)
    for await (const rows of this.#pages({ userId, to }, bodiesPerRead, bodies)) {
      yield rows.map((row) => ({ table: 'request_body', row: { ...row } }))
    }
  }

  async *#pages<Row extends { id: string }>(
    query: { userId: string; to: Date },
    limit: number,
    read: (page: ReadPage) => Promise<Row[]>,
  ): AsyncGenerator<Row[]> {
    let before: string | undefined
    for (;;) {
      const rows = await read({ ...toCondition({ ...query, before }), limit })
      if (rows.length > 0) yield rows
      if (rows.length < limit) return
      before = rows.at(-1)?.id
    }
  }

  #logs({ text, parameters, limit }: ReadPage): Promise<RequestLogRow[]> {
    const statement = {
      text: `SELECT ${logColumnList} FROM request_log FINAL WHERE ${text} ORDER BY id DESC LIMIT {limit:UInt32}`,
      parameters: { ...parameters, limit },
    }
    return this.#clickHouse.select(statement, LogRow)
  }

  #bodies({ text, parameters, limit }: ReadPage): Promise<z.output<typeof StoredBodyRow>[]> {
    const statement = {
      text: `SELECT ${bodyColumnList} FROM request_body FINAL WHERE ${text} ORDER BY id DESC LIMIT {limit:UInt32}`,
      parameters: { ...parameters, limit },
    }
    return this.#clickHouse.select(statement, StoredBodyRow)
  }
}

type ReadPage = ReturnType<typeof toCondition> & { limit: number }
