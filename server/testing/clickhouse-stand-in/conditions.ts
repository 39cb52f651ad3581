import { isObject } from '../../src/wire/json-body'
import { ClickHouseException, syntaxError } from './exception'
import type { StandInRow, StandInTable } from './table'
import type { StandInValue } from './values'

/** The tables and parameters that a statement reads. */
export interface SelectContext {
  tables: ReadonlyMap<string, StandInTable>
  /** Returns the parameter of a placeholder in the statement. */
  parameter: (placeholder: string) => StandInValue
}

type Test = (row: StandInRow, context: SelectContext) => boolean

const equals =
  (column: string, placeholder: string): Test =>
  (row, { parameter }) =>
    row[column] === parameter(placeholder)

const time = "DateTime64(3, 'UTC')"

const connectionIds = '{connectionIds:Array(String)}'

const heldIds = '{heldIds:Array(String)}'

/** Whether a column has none of the ids on hold. */
const isUnheld =
  (column: string): Test =>
  (row, { parameter }) => {
    const held = parameter(heldIds)
    return !(Array.isArray(held) && held.some((id) => id === row[column]))
  }

const contains = (field: string) =>
  `positionCaseInsensitiveUTF8(JSONExtractString(ifNull(error, ''), '${field}'), {errorText:String}) > 0`

/** The conditions that Tollgate sends. */
const conditions: Readonly<Record<string, Test>> = {
  'user_id = {userId:String}': equals('user_id', '{userId:String}'),
  'user_id = {user:String}': equals('user_id', '{user:String}'),
  'model = {model:String}': equals('model', '{model:String}'),
  'provider = {provider:String}': equals('provider', '{provider:String}'),
  'status = {status:String}': equals('status', '{status:String}'),
  'key_id = {keyId:String}': equals('key_id', '{keyId:String}'),
  'hasAll(tags, {tags:Array(String)})': ({ tags }, { parameter }) => {
    const wanted = parameter('{tags:Array(String)}')
    return Array.isArray(wanted) && Array.isArray(tags) && wanted.every((tag) => tags.includes(tag))
  },
  'id = {id:String}': equals('id', '{id:String}'),
  "status = 'success'": (row) => row['status'] === 'success',
  [`started_at >= {from:${time}}`]: (row, { parameter }) =>
    Number(row['started_at']) >= Number(parameter(`{from:${time}}`)),
  [`started_at < {to:${time}}`]: (row, { parameter }) =>
    Number(row['started_at']) < Number(parameter(`{to:${time}}`)),
  'latency_ms >= {minLatencyMs:Int32}': (row, { parameter }) =>
    Number(row['latency_ms']) >= Number(parameter('{minLatencyMs:Int32}')),
  'latency_ms <= {maxLatencyMs:Int32}': (row, { parameter }) =>
    Number(row['latency_ms']) <= Number(parameter('{maxLatencyMs:Int32}')),
  'id >= {firstId:String}': (row, { parameter }) =>
    String(row['id']) >= String(parameter('{firstId:String}')),
  'id <= {lastId:String}': (row, { parameter }) =>
    String(row['id']) <= String(parameter('{lastId:String}')),
  [`(${contains('message')} OR ${contains('code')})`]: (row, { parameter }) => {
    const text = String(parameter('{errorText:String}')).toLowerCase()
    const error: unknown = typeof row['error'] === 'string' ? JSON.parse(row['error']) : undefined
    return (
      isObject(error) &&
      [error['message'], error['code']].some((field) => String(field).toLowerCase().includes(text))
    )
  },
  [`user_id NOT IN ${heldIds}`]: isUnheld('user_id'),
  [`ifNull(organization_id, '') NOT IN ${heldIds}`]: isUnheld('organization_id'),
  [`ifNull(account_id, '') NOT IN ${heldIds}`]: isUnheld('account_id'),
  [`id NOT IN (SELECT id FROM request_log WHERE organization_id IN ${heldIds} OR account_id IN ${heldIds})`]:
    ({ id }, context) =>
      !findTable(context, 'request_log').rows.some(
        (log) =>
          log['id'] === id &&
          !(isUnheld('organization_id')(log, context) && isUnheld('account_id')(log, context)),
      ),
  'id < {before:String}': (row, { parameter }) =>
    String(row['id']) < String(parameter('{before:String}')),
  [`(connection_id IN ${connectionIds} OR hasAny(attempt_connections, ${connectionIds}))`]: (
    row,
    { parameter },
  ) => {
    const wanted = parameter(connectionIds)
    const tried = row['attempt_connections']
    const ids = [row['connection_id'], ...(Array.isArray(tried) ? tried : [])]
    return Array.isArray(wanted) && wanted.some((id) => ids.includes(id))
  },
}

/** Each condition names the account, or a period. */
const firstCondition =
  /^(user_id = \{(userId|user):String\}|started_at >= \{from:\S+ 'UTC'\)\} AND started_at < \{to:\S+ 'UTC'\)\})( AND |$)/

/** Returns the rows of a table that a condition matches. Each condition begins with the account or a period. */
export function matchRows(
  rows: readonly StandInRow[],
  condition: string,
  context: SelectContext,
): StandInRow[] {
  if (!firstCondition.test(condition))
    throw syntaxError(`${condition} names neither an account nor a period`)
  const tests = condition.split(' AND ').map((text) => {
    const test = conditions[text]
    if (!test) throw syntaxError(text)
    return test
  })
  return rows.filter((row) => tests.every((test) => test(row, context)))
}

export function findTable({ tables }: SelectContext, name: string): StandInTable {
  const table = tables.get(name)
  if (table) return table
  const message = `Unknown table expression identifier '${name}'`
  throw new ClickHouseException(60, 'UNKNOWN_TABLE', message)
}
