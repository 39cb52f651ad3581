import { findTable, matchRows, type SelectContext } from './conditions'
import { syntaxError } from './exception'
import type { StandInRow } from './table'

const sums = `count() AS requests, sum(l.input_tokens) AS input_tokens, sum(l.output_tokens) AS output_tokens,
  ifNull(sum(l.cached_tokens), 0) AS cached_tokens, ifNull(sum(l.cache_savings), 0) AS cache_savings, sum(l.cost) AS cost`
const totals = `${sums}, countIf(l.status = 'success') AS successes, countIf(l.status = 'error') AS failures,
  countIf(l.status = 'cancelled') AS cancellations, ifNull(sum(l.cache_write_tokens), 0) AS cache_write_tokens,
  sumIf(l.latency_ms, l.status = 'success') AS success_ms`
const key = `l.key_id AS name, nullIf(max(l.api_key_prefix), '') AS prefix, ${sums}`
const error = "JSONExtractString(l.error, 'code') AS code, count() AS count"

const form =
  /^SELECT ([^]+)\nFROM \(SELECT ([\w, ]+) FROM request_log FINAL WHERE (.+?)\) AS l(?: (WHERE l\.error IS NOT NULL ))?(?: ?(GROUP BY (?:name|code) ORDER BY (?:requests|count) DESC, (?:name|code) LIMIT \{groups:UInt32\}))?$/

type Rows = readonly StandInRow[]

const total = (rows: Rows, column: string): bigint =>
  rows.reduce((sum, row) => sum + toInteger(row[column]), 0n)

const toInteger = (value: unknown) => (typeof value === 'bigint' ? value : 0n)

const countIf = (rows: Rows, status: string) =>
  String(rows.filter((row) => row['status'] === status).length)

const sumRows = (rows: Rows) => ({
  requests: String(rows.length),
  ...Object.fromEntries(
    ['input_tokens', 'output_tokens', 'cached_tokens', 'cache_savings', 'cost'].map((column) => [
      column,
      String(total(rows, column)),
    ]),
  ),
})

const totalRows = (rows: Rows) => ({
  ...sumRows(rows),
  successes: countIf(rows, 'success'),
  failures: countIf(rows, 'error'),
  cancellations: countIf(rows, 'cancelled'),
  cache_write_tokens: String(total(rows, 'cache_write_tokens')),
  success_ms: String(
    total(
      rows.filter((row) => row['status'] === 'success'),
      'latency_ms',
    ),
  ),
})

/** Orders groups by descending size, then by name with null last. */
function group(rows: Rows, nameOf: (row: StandInRow) => unknown): [string | null, StandInRow[]][] {
  const groups = [...Map.groupBy(rows, (row) => toName(nameOf(row)))]
  return groups.toSorted(
    ([one, oneRows], [other, otherRows]) =>
      otherRows.length - oneRows.length || (isBefore(one, other) ? -1 : 1),
  )
}

const toName = (value: unknown) => (typeof value === 'string' ? value : null)

const isBefore = (one: string | null, other: string | null) =>
  one !== null && (other === null || one < other)

function codeOf(row: StandInRow): string {
  const parsed: unknown = JSON.parse(String(row['error']))
  return typeof parsed === 'object' && parsed !== null ? String(Reflect.get(parsed, 'code')) : ''
}

/** Returns the greatest prefix; null where none has one. */
const prefixOf = (rows: Rows): string | null =>
  rows
    .map((row) => toName(row['api_key_prefix']) ?? '')
    .toSorted()
    .at(-1) || null

/** Executes a SELECT of sums. */
export function readAggregate(text: string, context: SelectContext): object[] {
  const [all, columns = '', , condition = '', onlyErrors, grouping] = form.exec(text) ?? []
  if (all === undefined) throw syntaxError(text)
  const rows = matchRows(findTable(context, 'request_log').final, condition, context)
  if (columns === totals && !grouping && !onlyErrors) return [totalRows(rows)]
  if (!grouping) throw syntaxError(text)
  const limit = Number(context.parameter('{groups:UInt32}'))
  return readGroups({ columns, isOfErrors: onlyErrors !== undefined }, rows).slice(0, limit)
}

function readGroups(
  { columns, isOfErrors }: { columns: string; isOfErrors: boolean },
  rows: Rows,
): object[] {
  if (columns === error && isOfErrors) {
    const failed = rows.filter((row) => row['error'] !== null)
    return group(failed, codeOf).map(([code, { length }]) => ({ code, count: String(length) }))
  }
  if (isOfErrors) throw syntaxError(columns)
  if (columns === key) {
    return group(rows, (row) => row['key_id']).map(([name, members]) => ({
      name,
      prefix: prefixOf(members),
      ...sumRows(members),
    }))
  }
  const [, column = ''] =
    /^l\.(model|provider|account_id|billing_mode) AS name, /.exec(columns) ?? []
  if (columns !== `l.${column} AS name, ${sums}`) throw syntaxError(columns)
  return group(rows, (row) => row[column]).map(([name, members]) => ({
    name,
    ...sumRows(members),
  }))
}
