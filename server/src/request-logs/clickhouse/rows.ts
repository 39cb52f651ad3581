import { z } from 'zod'
import type { RequestLogRow } from '../../platform/db/request-log-schema'

const integer = z.coerce.bigint()
const text = z.string()
const optionalText = text.nullable()
/** Milliseconds since the epoch, as text. */
const time = z.coerce.number().transform((ms) => new Date(ms))

/** JSON that Tollgate has written. */
const json = <Value>(shape: z.ZodType<Value>) =>
  z
    .string()
    .nullable()
    .transform((value) => (value === null ? null : shape.parse(JSON.parse(value))))

const LogError = z.object({ type: text, code: text, message: text })

const listedFields = {
  id: text,
  started_ms: time,
  model: text,
  requested_model: text,
  provider: optionalText,
  status: z.enum(['success', 'error', 'cancelled']),
  status_code: z.int(),
  latency_ms: z.int(),
  input_tokens: integer,
  output_tokens: integer,
  cached_tokens: integer.nullable(),
  cache_write_tokens: integer.nullable(),
  cache_savings: integer.nullable(),
  images: z.int().nullable(),
  sound_ms: integer.nullable(),
  speech_characters: z.int().nullable(),
  speech_ms: integer.nullable(),
  tags: z.array(text).transform((tags) => (tags.length === 0 ? null : tags)),
  cost: integer,
  billing_mode: z.enum(['platform', 'house', 'byok', 'org_pays', 'member_pays', 'free']).nullable(),
  account_id: optionalText,
  api_key_prefix: optionalText,
  user_id: text,
  key_id: optionalText,
  error: json(LogError),
}

/** Names the start as PostgreSQL does. */
const renameStart = <Row extends { started_ms: Date }>({ started_ms: startedAt, ...row }: Row) => ({
  ...row,
  started_at: startedAt,
})

/** A log as the list has it. */
export const ListedLogRow = z.object(listedFields).transform(renameStart)
export type ListedLogRow = z.output<typeof ListedLogRow>

const logFields = {
  ...listedFields,
  method: text,
  endpoint: text,
  streamed: z.boolean(),
  finish_reason: optionalText,
  first_token_ms: z.int().nullable(),
  estimated: z.boolean(),
  platform_fee: integer,
  provider_cost: integer.nullable(),
  organization_id: optionalText,
  connection_id: optionalText,
  gateway_type: z.int().nullable(),
  concurrent: z.int(),
  caller_user: optionalText,
  metadata: json(z.record(z.string(), z.unknown())),
  ip_address: text,
  user_agent: text,
}

/** A log with all of its columns. */
export const LogRow: z.ZodType<RequestLogRow> = z.object(logFields).transform(renameStart)

/** The bodies of a request, where they were stored. */
export const BodyRow = z.object({ request_body: optionalText, response_body: optionalText })

const bodyFields = { id: text, started_ms: time, user_id: text, ...BodyRow.shape }
export const StoredBodyRow = z.object(bodyFields).transform(renameStart)

// Named otherwise than its column: in a condition, the name would stand for this expression.
const startColumn = 'toUnixTimestamp64Milli(started_at) AS started_ms'

const columnsOf = (fields: object): string =>
  Object.keys(fields)
    .map((name) => (name === 'started_ms' ? startColumn : name))
    .join(', ')

export const listedColumnList = columnsOf(listedFields)
export const logColumnList = columnsOf(logFields)
export const bodyColumnList = columnsOf(bodyFields)
