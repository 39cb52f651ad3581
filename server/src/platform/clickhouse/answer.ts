import { ClickHouseRejection, ClickHouseUnavailable } from './failure'

/** The part of an HTTP answer that the client reads. */
export interface ClickHouseAnswer {
  readonly status: number
  readonly headers: { get: (name: string) => string | null }
  text: (maxBytes?: number) => Promise<string>
}

/** Up to version 21 `e.displayText() = ` stood before the name. */
const exception = /Code: (\d+)[.,] (?:e\.displayText\(\) = )?DB::Exception/
const name = /\(([A-Z][A-Z0-9_]{2,})\)/g

/** Describes an error by its code and name. */
function describe(text: string, header: string | null): { what: string; code: number | undefined } {
  const [, inText] = exception.exec(text) ?? []
  const code = Number(header ?? inText ?? NaN)
  if (!Number.isSafeInteger(code)) return { what: 'ClickHouse failed', code: undefined }
  const [, label] = [...text.matchAll(name)].at(-1) ?? []
  return { what: `ClickHouse failed with code ${code}${label ? ` ${label}` : ''}`, code }
}

/** Statuses of a proxy whose server is down. */
const awayStatuses = new Set([502, 503, 504])

/** Throws `ClickHouseRejection` for an answer that reports an error in its head, `ClickHouseUnavailable` for a proxy's. */
export function rejectFailure(
  { status, headers }: Pick<ClickHouseAnswer, 'status' | 'headers'>,
  text: string,
  queryId: string,
): void {
  const header = headers.get('x-clickhouse-exception-code')
  if (status === 200 && header === null) return
  const { what, code } = describe(text, header)
  if (code === undefined && awayStatuses.has(status)) {
    throw new ClickHouseUnavailable(`ClickHouse did not answer: status ${status}`)
  }
  throw new ClickHouseRejection(code === undefined ? `${what}: status ${status}` : what, {
    code,
    queryId,
  })
}

/**
 * Parses rows in the format JSONEachRow. Throws `ClickHouseRejection` where an error follows the rows: its text is no
 * JSON, and stands after the last row, also within a line that it breaks off.
 */
export function parseRows(text: string, queryId: string): unknown[] {
  if (text === '') return []
  const lines = text.split('\n')
  // Each row ends with a line feed.
  const rest = lines.pop()
  const rows = lines.map((line) => parseRow(line, text, queryId))
  if (rest === '') return rows
  throw brokenOff(text, queryId)
}

function parseRow(line: string, text: string, queryId: string): unknown {
  try {
    const row: unknown = JSON.parse(line)
    if (typeof row === 'object' && row !== null) return row
  } catch {
    // An error in the middle of the answer.
  }
  throw brokenOff(text, queryId)
}

/** The rows before the error may contain any text, so that only the last lines are looked at. */
const maxErrorLength = 4096

function brokenOff(text: string, queryId: string): ClickHouseRejection {
  const { what, code } = describe(text.slice(-maxErrorLength), null)
  return new ClickHouseRejection(`${what} in the middle of its answer`, { code, queryId })
}
