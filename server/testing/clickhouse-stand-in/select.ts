import { readAggregate } from './aggregates'
import { findTable, matchRows, type SelectContext } from './conditions'
import { ClickHouseException } from './exception'
import type { StandInRow, StandInTable } from './table'
import { toJson } from './values'

const byIdDescending = (one: StandInRow, other: StandInRow) =>
  String(one['id']) < String(other['id']) ? 1 : -1

const rowsForm =
  /^SELECT ([\w, ()]+?) FROM (request_log|request_body) FINAL WHERE (.+?)(?:\s+ORDER BY id DESC)? LIMIT (1|\{limit:UInt32\})( OFFSET \{offset:UInt32\})?$/
const countForm =
  /^SELECT count\(\) AS (total|found) FROM (request_log|request_body)( FINAL)? WHERE (.+)$/
const samplesForm =
  /^SELECT ms, count\(\) AS count FROM \(\n {2}SELECT (latency_ms|first_token_ms|if\(attempts_ms IS NULL, NULL, greatest\(latency_ms - attempts_ms, 0\)\)) AS ms FROM request_log FINAL WHERE (.+)\n {2}ORDER BY id DESC LIMIT \{limit:UInt32\}\n\) WHERE ms IS NOT NULL GROUP BY ms ORDER BY ms$/

/** Executes a SELECT in one of the forms that Tollgate sends. */
export const select = (text: string, context: SelectContext): object[] =>
  readSystem(text, context) ??
  readCount(text, context) ??
  readSamples(text, context) ??
  readRows(text, context) ??
  readAggregate(text, context)

function readCount(text: string, context: SelectContext): object[] | undefined {
  const [, name, from = '', final, condition = ''] = countForm.exec(text) ?? []
  if (name === undefined) return undefined
  const table = findTable(context, from)
  const rows = matchRows(final ? table.final : table.rows, condition, context)
  return [{ [name]: String(rows.length) }]
}

function readRows(text: string, context: SelectContext): object[] | undefined {
  const [, columns, from = '', condition = '', limit, offset] = rowsForm.exec(text) ?? []
  if (columns === undefined) return undefined
  const table = findTable(context, from)
  const first = offset ? Number(context.parameter('{offset:UInt32}')) : 0
  const count = limit === '1' ? 1 : Number(context.parameter('{limit:UInt32}'))
  return matchRows(table.final, condition, context)
    .toSorted(byIdDescending)
    .slice(first, first + count)
    .map((row) => pick(table, row, columns))
}

function readSystem(text: string, context: SelectContext): object[] | undefined {
  const name = () => String(context.parameter('{table:String}'))
  if (
    text ===
    'SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = {table:String}'
  ) {
    const table = context.tables.get(name())
    return table ? [{ engine_full: table.engine }] : []
  }
  if (
    text !==
    'SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String}'
  ) {
    return undefined
  }
  return [...(context.tables.get(name())?.columns.keys() ?? [])].map((column) => ({ name: column }))
}

function pick(table: StandInTable, row: StandInRow, columns: string): object {
  const fields = columns.split(', ').map((column): [string, unknown] => {
    if (column === 'toUnixTimestamp64Milli(started_at) AS started_ms') {
      return ['started_ms', String(row['started_at'])]
    }
    const type = table.columns.get(column)
    if (type === undefined) {
      throw new ClickHouseException(47, 'UNKNOWN_IDENTIFIER', `Unknown identifier '${column}'`)
    }
    return [column, toJson(type, row[column])]
  })
  return Object.fromEntries(fields)
}

function readSamples(text: string, context: SelectContext): object[] | undefined {
  const [, expression, condition = ''] = samplesForm.exec(text) ?? []
  if (expression === undefined) return undefined
  const limit = Number(context.parameter('{limit:UInt32}'))
  const times = matchRows(findTable(context, 'request_log').final, condition, context)
    .toSorted(byIdDescending)
    .slice(0, limit)
    .map((row) => timeOf(expression, row))
    .filter((ms) => ms !== null)
  const counts = Map.groupBy(times, (ms) => ms)
  return [...counts]
    .toSorted(([one], [other]) => one - other)
    .map(([ms, all]) => ({ ms, count: String(all.length) }))
}

function timeOf(expression: string, row: StandInRow): number | null {
  if (!expression.startsWith('if(')) {
    const value = row[expression]
    return value === null ? null : Number(value)
  }
  if (row['attempts_ms'] === null) return null
  return Math.max(Number(row['latency_ms']) - Number(row['attempts_ms']), 0)
}
