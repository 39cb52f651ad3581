import type { ParameterValue } from '../../platform/clickhouse/parameters'

/** Conditions on logs; each field that is set narrows them down. */
export interface LogConditions {
  model?: string | undefined
  provider?: string | undefined
  status?: string | undefined
  keyId?: string | undefined
  /** Tags that a request must have all. */
  tags?: readonly string[] | undefined
  /** Connections of which one served the request, or an attempt of it. */
  connectionIds?: readonly string[] | undefined
  minLatencyMs?: number | undefined
  maxLatencyMs?: number | undefined
  /** Only logs between these ids, both included. */
  firstId?: string | undefined
  lastId?: string | undefined
  /** Only failed requests with this text in the code or the message of their error. */
  errorText?: string | undefined
  /** Only logs with a lower id. */
  before?: string | undefined
}

/** Logs of one account. */
interface AccountLogQuery extends LogConditions {
  userId: string
  /** Inclusive. */
  from?: Date | undefined
  /** Exclusive. */
  to?: Date | undefined
}

/** Logs of all accounts, in a period: partitions of other days are not read. */
interface PeriodLogQuery extends LogConditions {
  userId?: undefined
  from: Date
  to: Date
}

/** Selects logs of an account, or of all in a period. */
export type LogQuery = AccountLogQuery | PeriodLogQuery

/** Matches a part of a field of the error, without regard to case. */
const contains = (field: string) =>
  `positionCaseInsensitiveUTF8(JSONExtractString(ifNull(error, ''), '${field}'), {errorText:String}) > 0`

/** Conditions by the field of the query, each with the parameter of its name. */
const conditions: Readonly<Record<keyof AccountLogQuery, string>> = {
  userId: 'user_id = {userId:String}',
  model: 'model = {model:String}',
  provider: 'provider = {provider:String}',
  status: 'status = {status:String}',
  keyId: 'key_id = {keyId:String}',
  tags: 'hasAll(tags, {tags:Array(String)})',
  connectionIds:
    '(connection_id IN {connectionIds:Array(String)} OR hasAny(attempt_connections, {connectionIds:Array(String)}))',
  firstId: 'id >= {firstId:String}',
  lastId: 'id <= {lastId:String}',
  errorText: `(${contains('message')} OR ${contains('code')})`,
  from: "started_at >= {from:DateTime64(3, 'UTC')}",
  to: "started_at < {to:DateTime64(3, 'UTC')}",
  minLatencyMs: 'latency_ms >= {minLatencyMs:Int32}',
  maxLatencyMs: 'latency_ms <= {maxLatencyMs:Int32}',
  before: 'id < {before:String}',
}
const fields = [
  'userId',
  'from',
  'to',
  'model',
  'provider',
  'status',
  'keyId',
  'tags',
  'connectionIds',
  'minLatencyMs',
  'maxLatencyMs',
  'firstId',
  'lastId',
  'errorText',
  'before',
] as const satisfies readonly (keyof AccountLogQuery)[]

/** A condition, and the values of its parameters. */
export interface LogCondition {
  text: string
  parameters: Record<string, ParameterValue>
}

/** Returns the condition of a query; it always names the account, or a period. */
export function toCondition(query: LogQuery): LogCondition {
  const parameters: Record<string, ParameterValue> = {}
  for (const field of fields) {
    const value = query[field]
    if (value !== undefined) parameters[field] = value
  }
  const used = fields.filter((field) => field in parameters)
  return { text: used.map((field) => conditions[field]).join(' AND '), parameters }
}
