import { ClickHouseException } from './exception'
import { parseColumn } from './values'

/** A row by its columns: integers are bigint, times are milliseconds since the epoch. */
export type StandInRow = Readonly<Record<string, unknown>>

const dayMs = 86_400_000
const maxPartitions = 100

/** A ReplacingMergeTree: rows with the same sorting key and partition are one, that of the highest version. */
export class StandInTable {
  readonly columns: Map<string, string>
  /** All insertions, as long as parts are not merged. */
  rows: StandInRow[] = []
  days: number
  /** Whether an operator's own rule rejects a row. */
  refuses: (row: StandInRow) => boolean = () => false

  constructor(columns: readonly (readonly [string, string])[], days: number) {
    this.columns = new Map(columns)
    this.days = days
  }

  get engine(): string {
    return `ReplacingMergeTree(version) PARTITION BY toDate(started_at) ORDER BY (user_id, id) TTL toStartOfDay(toDateTime(started_at, 'UTC')) + toIntervalDay(${this.days}) SETTINGS ttl_only_drop_parts = 1, index_granularity = 8192`
  }

  /** The rows as FINAL has them. */
  get final(): StandInRow[] {
    const newest = new Map<string, StandInRow>()
    for (const row of this.rows) {
      const key = JSON.stringify([dayOf(row), row['user_id'], row['id']])
      const known = newest.get(key)
      if (!known || versionOf(row) >= versionOf(known)) newest.set(key, row)
    }
    return [...newest.values()]
  }

  /** Inserts rows of JSONEachRow: all of them, or none. */
  insert(lines: string): void {
    const rows = lines
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => this.#parse(line))
    if (new Set(rows.map(dayOf)).size > maxPartitions) {
      const message = `Too many partitions for single INSERT block (more than ${maxPartitions})`
      throw new ClickHouseException(252, 'TOO_MANY_PARTS', message)
    }
    this.rows.push(...rows)
  }

  #parse(line: string): StandInRow {
    const fields = parseObject(line)
    for (const name of Object.keys(fields)) {
      if (!this.columns.has(name)) {
        const message = `Unknown field found while parsing JSONEachRow format: ${name}: (at row 1)`
        throw new ClickHouseException(117, 'INCORRECT_DATA', message)
      }
    }
    const row: Record<string, unknown> = {}
    for (const [name, type] of this.columns) {
      const value = parseColumn(type, fields[name] ?? null)
      if (value === undefined) {
        const message = `Cannot parse input: expected ${type} before: ${line}`
        throw new ClickHouseException(27, 'CANNOT_PARSE_INPUT_ASSERTION_FAILED', message)
      }
      row[name] = value
    }
    if (this.refuses(row)) {
      throw new ClickHouseException(
        469,
        'VIOLATED_CONSTRAINT',
        `Constraint is violated at row ${line}`,
      )
    }
    return row
  }
}

const dayOf = (row: StandInRow) => Math.floor(Number(row['started_at']) / dayMs)
const versionOf = (row: StandInRow) => BigInt(String(row['version']))

/** Keeps integers that no number of JavaScript has. */
const exactly = (_name: string, value: unknown, { source }: { source?: string } = {}): unknown =>
  typeof value === 'number' && source && /^-?\d+$/.test(source) ? BigInt(source) : value

function parseObject(line: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(line, exactly)
    if (typeof parsed === 'object' && parsed !== null) return { ...parsed }
  } catch {
    // Reported below.
  }
  const message = `Cannot parse JSON object here: ${line}`
  throw new ClickHouseException(117, 'INCORRECT_DATA', message)
}
