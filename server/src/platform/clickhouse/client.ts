import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { z } from 'zod'
import type { ClickHouseAddress } from './address'
import { parseRows, rejectFailure, type ClickHouseAnswer } from './answer'
import { ClickHouseUnavailable } from './failure'
import { RequestGate } from './gate'
import { toUrlParameters, type Parameters } from './parameters'

/** A request as the egress sends it. */
interface ClickHouseCall {
  url: string
  method: 'POST'
  headers: Readonly<Record<string, string>>
  body?: string
  bytes?: Uint8Array
  signal: AbortSignal
}

interface ClickHouseOptions {
  address: ClickHouseAddress
  /** Sends a request; rejects where there is no answer. */
  send: (call: ClickHouseCall) => Promise<ClickHouseAnswer>
  /** Shorter in tests. */
  timeouts?: { readMs: number; writeMs: number }
  nowMs?: () => number
}

/** A statement with parameters `{name:Type}`; its text is a constant. */
export interface ClickHouseStatement {
  text: string
  parameters?: Parameters
}

const usual = { readMs: 10_000, writeMs: 30_000 }
const maxRunning = 32
const maxAnswerBytes = 32 * 1024 * 1024
const maxErrorBytes = 64 * 1024
/** Smaller bodies are sent as they are. */
const minCompressedBytes = 1024
const compress = promisify(gzip)

const readSettings = {
  // Numbers of JavaScript would lose nano-dollars above 9 million USD.
  output_format_json_quote_64bit_integers: '1',
  // Errors become a status instead of text behind the rows, as far as the server can buffer them.
  wait_end_of_query: '1',
  cancel_http_readonly_queries_on_client_close: '1',
  // A log and its duplicate begin on the same day.
  do_not_merge_across_partitions_select_final: '1',
}
const writeSettings = { wait_end_of_query: '1', wait_for_async_insert: '1' }

/** A statement as a request carries it: the query parameters of its URL, and its body. */
interface OutgoingStatement {
  url: [string, string][]
  body: string
  timeoutMs: number
}

/** A client for the HTTP interface of one ClickHouse database. All reject with `ClickHouseUnavailable` or `ClickHouseRejection`. */
export class ClickHouse implements Disposable {
  readonly #options: ClickHouseOptions
  readonly #gate: RequestGate
  readonly #closing = new AbortController()

  constructor(options: ClickHouseOptions) {
    this.#options = options
    this.#gate = new RequestGate({ nowMs: options.nowMs ?? (() => performance.now()), maxRunning })
  }

  /** Whether the server did not answer lately. */
  get isAway(): boolean {
    return this.#gate.isOpen
  }

  /** Executes a SELECT, and parses each row. */
  async select<Row>(
    { text, parameters = {} }: ClickHouseStatement,
    row: z.ZodType<Row>,
  ): Promise<Row[]> {
    const { readMs } = this.#timeouts
    const url: [string, string][] = [
      ...Object.entries(readSettings),
      ['max_execution_time', String(Math.ceil(readMs / 1000))],
      ...toUrlParameters(parameters),
    ]
    const body = `${text}\nFORMAT JSONEachRow`
    const { answer, queryId } = await this.#run({ url, body, timeoutMs: readMs })
    return parseRows(answer, queryId).map((one) => row.parse(one))
  }

  /** Executes a statement that returns no rows. */
  async execute({ text, parameters = {} }: ClickHouseStatement): Promise<void> {
    const url: [string, string][] = [['wait_end_of_query', '1'], ...toUrlParameters(parameters)]
    await this.#run({ url, body: text, timeoutMs: this.#timeouts.writeMs })
  }

  /** Inserts rows, each a line of JSON, into a table whose name is a constant. All are inserted, or none is. */
  async insert(table: string, lines: readonly string[]): Promise<void> {
    const url: [string, string][] = [
      ...Object.entries(writeSettings),
      ['query', `INSERT INTO ${table} FORMAT JSONEachRow`],
    ]
    const body = lines.join('\n')
    await this.#run({ url, body, timeoutMs: this.#timeouts.writeMs })
  }

  get #timeouts() {
    return this.#options.timeouts ?? usual
  }

  async #run(statement: OutgoingStatement): Promise<{ answer: string; queryId: string }> {
    const queryId = `tollgate-${crypto.randomUUID()}`
    const answer = await this.#gate.run(() => this.#send(statement, queryId))
    return { answer, queryId }
  }

  async #send({ url, body, timeoutMs }: OutgoingStatement, queryId: string): Promise<string> {
    const { address, send } = this.#options
    const query = new URLSearchParams([...url, ['query_id', queryId]])
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), this.#closing.signal])
    const bytes =
      Buffer.byteLength(body) < minCompressedBytes ? undefined : await compress(body, { level: 1 })
    const call: ClickHouseCall = {
      url: `${address.origin}/?${query.toString()}`,
      method: 'POST',
      headers: {
        'x-clickhouse-user': address.user,
        'x-clickhouse-key': address.password,
        'x-clickhouse-database': address.database,
        'content-type': 'text/plain; charset=utf-8',
        ...(bytes && { 'content-encoding': 'gzip' }),
      },
      ...(bytes ? { bytes } : { body }),
      signal,
    }
    const { head, text } = await read(send(call))
    rejectFailure(head, text, queryId)
    return text
  }

  /** Ends the running requests, which reject, and all later ones. */
  [Symbol.dispose](): void {
    this.#closing.abort(new Error('the client was closed'))
  }
}

/** Reads an answer to its end, within the deadline of its request. Rejects with `ClickHouseUnavailable`. */
async function read(answering: Promise<ClickHouseAnswer>) {
  try {
    const head = await answering
    const isError = head.status !== 200
    return { head, text: await head.text(isError ? maxErrorBytes : maxAnswerBytes) }
  } catch (cause) {
    throw new ClickHouseUnavailable('ClickHouse did not answer', { cause })
  }
}
