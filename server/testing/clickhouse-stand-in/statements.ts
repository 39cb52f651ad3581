import { findTable, matchRows, type SelectContext } from './conditions'
import { syntaxError } from './exception'
import { select } from './select'
import { StandInTable } from './table'

const expiry = String.raw`toStartOfDay\(toDateTime\(started_at, 'UTC'\)\) \+ toIntervalDay\((\d+)\)`
const createForm = new RegExp(
  String.raw`^CREATE TABLE IF NOT EXISTS (\w+) \(\n([^]+)\n\)\nENGINE = ReplacingMergeTree\(version\)\nPARTITION BY toDate\(started_at\)\nORDER BY \(user_id, id\)\nTTL ${expiry}\nSETTINGS ttl_only_drop_parts = 1$`,
)
const addForm = /^ALTER TABLE (\w+) ADD COLUMN IF NOT EXISTS (\w+) (.+)$/
const expiryForm = new RegExp(`^ALTER TABLE (\\w+) MODIFY TTL ${expiry}$`)
const deleteForm = /^ALTER TABLE (\w+) DELETE WHERE (.+)$/
const insertForm = /^INSERT INTO (\w+) FORMAT JSONEachRow$/
const columnForm = /^ {2}(\w+) (\S.*)$/

/** The tables that statements read and change, and their parameters. */
export interface StandInDatabase extends SelectContext {
  tables: Map<string, StandInTable>
}

/** Inserts the rows of a body. */
export function insert(text: string, rows: string, database: StandInDatabase): void {
  const [, name] = insertForm.exec(text) ?? []
  if (name === undefined) throw syntaxError(text)
  findTable(database, name).insert(rows)
}

/** Executes any other statement; resolves with the rows of a SELECT. */
export function execute(text: string, database: StandInDatabase): object[] {
  const [, read] = /^(SELECT [^]+)\nFORMAT JSONEachRow$/.exec(text) ?? []
  if (read !== undefined) return select(read, database)
  if (!create(text, database) && !alter(text, database)) throw syntaxError(text)
  return []
}

function create(text: string, { tables }: StandInDatabase): boolean {
  const [, name, body = '', days] = createForm.exec(text) ?? []
  if (name === undefined) return false
  const columns = body.split(',\n').map((line): [string, string] => {
    const [, column, type] = columnForm.exec(line) ?? []
    if (column === undefined || type === undefined) throw syntaxError(line)
    return [column, type]
  })
  if (!tables.has(name)) tables.set(name, new StandInTable(columns, Number(days)))
  return true
}

function alter(text: string, database: StandInDatabase): boolean {
  const [, grown, column = '', type = ''] = addForm.exec(text) ?? []
  if (grown !== undefined) {
    const { columns } = findTable(database, grown)
    if (!columns.has(column)) columns.set(column, type)
    return true
  }
  const [, expiring, days] = expiryForm.exec(text) ?? []
  if (expiring !== undefined) {
    findTable(database, expiring).days = Number(days)
    return true
  }
  const [, name, condition = ''] = deleteForm.exec(text) ?? []
  if (name === undefined) return false
  const table = findTable(database, name)
  const gone = new Set(matchRows(table.rows, condition, database))
  table.rows = table.rows.filter((row) => !gone.has(row))
  return true
}
