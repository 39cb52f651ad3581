import { gunzipSync } from 'node:zlib'
import type { Server } from 'bun'
import { ClickHouseException } from './exception'
import { execute, insert } from './statements'
import type { StandInTable } from './table'
import { parseParameter, type StandInValue } from './values'

/** The settings that Tollgate sends, with the values that it may send. */
const settings: Readonly<Record<string, RegExp>> = {
  output_format_json_quote_64bit_integers: /^1$/,
  wait_end_of_query: /^1$/,
  wait_for_async_insert: /^1$/,
  cancel_http_readonly_queries_on_client_close: /^1$/,
  do_not_merge_across_partitions_select_final: /^1$/,
  max_execution_time: /^\d+$/,
  query_id: /^tollgate-[0-9a-f-]{36}$/,
}

/** A fault of the next request; of `lost`, the statement is executed and its answer is not sent. */
export type StandInFault =
  | { type: 'hang' }
  | { type: 'lost' }
  | { type: 'broken off' }
  | { type: 'error behind rows' }
  | { type: 'tagged error behind rows' }
  | { type: 'exception'; code: number; label: string }
  | { type: 'bad gateway' }

interface StandInRequest {
  /** The statement, without the rows of an insertion. */
  text: string
  /** Whether its body was compressed. */
  isCompressed: boolean
  /** Parameters as they were sent. */
  parameters: Record<string, string>
}

const user = 'tollgate'
const password = 'p ss/w:rd@1'
const database = 'logs'

/** A server in place of ClickHouse, on loopback. */
export class ClickHouseStandIn implements Disposable {
  readonly tables = new Map<string, StandInTable>()
  readonly requests: StandInRequest[] = []
  /** The faults of the next requests, in order. */
  readonly faults: StandInFault[] = []
  readonly #server: Server<undefined>
  readonly #hanging = new Set<() => void>()

  constructor() {
    this.#server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      idleTimeout: 255,
      fetch: (request) => this.#answer(request),
    })
  }

  /** The value of `CLICKHOUSE_URL` for this server. */
  get url(): string {
    const host = `127.0.0.1:${this.#server.port}`
    return `http://${user}:${encodeURIComponent(password)}@${host}/${database}`
  }

  /** The rows of a table as FINAL has them, by their ids. */
  finalRows(table: 'request_log' | 'request_body') {
    const rows = this.tables.get(table)?.final ?? []
    return new Map(rows.map((row) => [String(row['id']), row]))
  }

  async #answer(request: Request): Promise<Response> {
    const fault = this.faults.shift()
    if (fault?.type === 'hang') await new Promise<void>((resolve) => this.#hanging.add(resolve))
    if (fault?.type === 'bad gateway') return new Response('<html>', { status: 502 })
    try {
      if (fault?.type === 'exception') {
        throw new ClickHouseException(fault.code, fault.label, 'Memory limit: (row) exceeded')
      }
      const rows = await this.#execute(request)
      if (fault?.type === 'lost') return brokenOff('')
      return answerRows(rows, fault)
    } catch (thrown) {
      if (!(thrown instanceof ClickHouseException)) throw thrown
      return new Response(thrown.text, {
        status: thrown.status,
        headers: { ...format, 'X-ClickHouse-Exception-Code': String(thrown.code) },
      })
    }
  }

  async #execute(request: Request): Promise<object[]> {
    const url = new URL(request.url)
    checkHead(request, url)
    const body = await readBody(request)
    const query = url.searchParams.get('query')
    const text = query ?? body
    const sent = readParameters(url.searchParams)
    this.requests.push({
      text,
      isCompressed: request.headers.has('content-encoding'),
      parameters: sent,
    })
    const parameter = bindParameters(text, sent)
    const context = { tables: this.tables, parameter }
    if (query === null) return execute(text, context)
    insert(text, body, context)
    return []
  }

  [Symbol.dispose](): void {
    for (const release of this.#hanging) release()
    void this.#server.stop(true)
  }
}

const format = { 'Content-Type': 'text/plain; charset=UTF-8', 'X-ClickHouse-Timezone': 'UTC' }

function checkHead(request: Request, url: URL): void {
  const { headers } = request
  if (request.method !== 'POST' || url.pathname !== '/') {
    throw new ClickHouseException(164, 'READONLY', `${request.method} ${url.pathname}`)
  }
  const isKnown =
    headers.get('x-clickhouse-user') === user && headers.get('x-clickhouse-key') === password
  if (!isKnown || url.searchParams.has('user') || headers.has('authorization')) {
    const message = `${headers.get('x-clickhouse-user')}: Authentication failed`
    throw new ClickHouseException(516, 'AUTHENTICATION_FAILED', message)
  }
  if (headers.get('x-clickhouse-database') !== database) {
    throw new ClickHouseException(81, 'UNKNOWN_DATABASE', 'Database does not exist')
  }
  for (const [name, value] of url.searchParams) {
    if (name === 'query' || name.startsWith('param_')) continue
    if (!settings[name]?.test(value)) {
      throw new ClickHouseException(115, 'UNKNOWN_SETTING', `Setting ${name} is ${value}`)
    }
  }
}

async function readBody(request: Request): Promise<string> {
  const bytes = new Uint8Array(await request.arrayBuffer())
  const encoding = request.headers.get('content-encoding')
  if (encoding === null) return new TextDecoder().decode(bytes)
  if (encoding === 'gzip') return gunzipSync(bytes).toString()
  throw new ClickHouseException(48, 'NOT_IMPLEMENTED', `Unsupported compression ${encoding}`)
}

const readParameters = (query: URLSearchParams): Record<string, string> =>
  Object.fromEntries(
    [...query].flatMap(([name, value]) =>
      name.startsWith('param_') ? [[name.slice('param_'.length), value]] : [],
    ),
  )

const placeholder = /\{(\w+):((?:[^{}'"]|'[^']*')+)\}/g

/** Parses the parameters of a statement; one that is missing, or not used, is an error. */
function bindParameters(
  text: string,
  sent: Readonly<Record<string, string>>,
): (placeholder: string) => StandInValue {
  const values = new Map<string, StandInValue>()
  const used = new Set<string>()
  for (const [all, name = '', type = ''] of text.matchAll(placeholder)) {
    const value = sent[name]
    if (value === undefined) {
      const message = `Substitution \`${name}\` is not set`
      throw new ClickHouseException(456, 'UNKNOWN_QUERY_PARAMETER', message)
    }
    used.add(name)
    values.set(all, parseParameter(name, type, value))
  }
  // The real server ignores these.
  const extra = Object.keys(sent).find((name) => !used.has(name))
  if (extra !== undefined) {
    throw new ClickHouseException(456, 'UNKNOWN_QUERY_PARAMETER', `${extra} is not used`)
  }
  return (wanted) => {
    const value = values.get(wanted)
    if (value === undefined) throw new Error(`${wanted} is not in the statement`)
    return value
  }
}

const late = new ClickHouseException(241, 'MEMORY_LIMIT_EXCEEDED', 'Query memory limit exceeded')

/** Returns an answer whose head and first bytes arrive, and whose connection then breaks. */
const brokenOff = (text: string) =>
  new Response(
    new ReadableStream({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode(text || '{"id"'))
        await Bun.sleep(10)
        // With a reason it would be printed.
        controller.error()
      },
    }),
    { headers: format },
  )

function answerRows(rows: readonly object[], fault: StandInFault | undefined): Response {
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  switch (fault?.type) {
    case 'broken off':
      return brokenOff(text.slice(0, text.length / 2))
    case 'error behind rows':
      // Older servers write the text alone, also within a row.
      return new Response(`${text.slice(0, text.length / 2)}${late.text}`, { headers: format })
    case 'tagged error behind rows': {
      const block = `\r\n__exception__\r\ntag0123456789abc\r\n${late.text}${late.text.length} tag0123456789abc\r\n__exception__\r\n`
      return new Response(`${text}${block}`, {
        headers: { ...format, 'X-ClickHouse-Exception-Tag': 'tag0123456789abc' },
      })
    }
    default:
      return new Response(text, { headers: format })
  }
}
