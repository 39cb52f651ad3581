import { z } from 'zod'
import { ChargedPriceAnswer } from '../../../catalog/charged-price'
import { Pagination } from '../../../http/documentation'
import { timestamp } from '../../../http/fields'
import { broken } from '../../../wire/field-error'

const dayMs = 86_400_000

/** Exclusive; a date alone counts to the end of that day. Source: contract 1.5. */
const end = z.union([
  z.iso.date().transform((text) => new Date(new Date(text).getTime() + dayMs)),
  timestamp,
])

const milliseconds = z.coerce.number().int().min(0).max(2_147_483_647)
const status = z.enum(['success', 'error', 'cancelled'])
const billingMode = z.enum(['platform', 'house', 'byok', 'org_pays', 'member_pays', 'free'])

/** Filters of the logs. Source: contract 6.9. */
export const RequestLogFilter = z
  .object({
    model: z.string().max(256).optional(),
    provider: z.string().max(40).optional(),
    status: status.optional(),
    api_key_id: z.string().max(100).optional(),
    gateway_id: z.string().max(100).optional(),
    start_date: timestamp.optional(),
    end_date: end.optional(),
    min_latency: milliseconds.optional(),
    max_latency: milliseconds.optional(),
  })
  .superRefine(({ start_date, end_date }, ctx) => {
    if (!start_date || !end_date || start_date <= end_date) return
    ctx.addIssue(broken('out_of_range', 'must not be after end_date.', ['start_date']))
  })
export type RequestLogFilter = z.output<typeof RequestLogFilter>

export const filters = [
  'model',
  'provider',
  'status',
  'api_key_id',
  'gateway_id',
  'start_date',
  'end_date',
  'min_latency',
  'max_latency',
] as const

const usd = z.number().describe('USD')

const listed = {
  id: z.string().describe('The `x-request-id` of the answer'),
  model: z.string().describe('The one that served, else what was asked for'),
  requested_model: z.string().describe('Empty where the request was refused before it was read'),
  provider: z.string().nullable(),
  status,
  status_code: z.int().describe('499 where the caller left'),
  latency_ms: z.int().describe('To the last byte'),
  input_tokens: z.int(),
  output_tokens: z.int(),
  total_tokens: z.int(),
  cached_tokens: z.int().describe('Of the input, those that were read from a prompt cache'),
  cache_write_tokens: z.int().describe('Of the input, those that were written to a prompt cache'),
  cache_savings: z
    .number()
    .describe(
      'USD that the cache saved of the price; below 0 where writing cost more than reading saved',
    ),
  cost: usd,
  billing_mode: billingMode.nullable(),
  created_at: z.iso.datetime(),
  api_key_prefix: z.string().nullable(),
}

export const ListedLog = z.object(listed).meta({ ref: 'ListedRequestLog' })

const logged = {
  ...listed,
  method: z.string(),
  endpoint: z.string(),
  stream: z.boolean(),
  api_key_id: z.string().nullable(),
  error: z.object({ type: z.string(), code: z.string(), message: z.string() }).nullable(),
  finish_reason: z.string().nullable(),
  connection_id: z.string().nullable(),
  gateway_type: z.int().nullable().describe('2: called by Tollgate; 3: by a gateway of your own'),
  organization_id: z.string().nullable(),
  time_to_first_token_ms: z.int().nullable(),
  user: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  ip_address: z.string(),
  user_agent: z.string(),
  platform_fee: usd,
  provider_revenue: usd,
  estimated: z.boolean().describe('The tokens were counted here, not by the provider'),
}

export const Log = z.object(logged).meta({ ref: 'RequestLog' })
export type Log = z.output<typeof Log>

const LogAttempt = z.object({
  connection_id: z.string().nullable(),
  provider: z.string(),
  model: z.string(),
  status: z.enum(['success', 'error', 'cancelled', 'passed_over']),
  error_code: z
    .string()
    .nullable()
    .describe('Why it failed, or was passed over; `cooling_down` after failures'),
  latency_ms: z.int(),
})
export type LogAttempt = z.output<typeof LogAttempt>

export const LogDetails = z
  .object({
    ...logged,
    request_body: z
      .string()
      .nullable()
      .describe('As it came, secrets removed, at most 64 KB; null unless bodies are kept'),
    response_body: z
      .string()
      .nullable()
      .describe('JSON; of a stream the answer that it stands for. As above'),
    pricing: ChargedPriceAnswer.nullable().describe(
      'The price it was charged by; null where it had none',
    ),
    measured: z
      .object({
        searches: z.int().describe('Web searches of the provider’s'),
        input_characters: z.int().nullable().describe('Unicode characters of the prompt’s texts'),
        output_characters: z.int().nullable(),
        processing_ms: z
          .int()
          .nullable()
          .describe('As the provider reported it, else as long as the attempt ran'),
      })
      .nullable()
      .describe(
        'What was charged beside the tokens; characters and time are null where the price has no rate for them',
      ),
    resolution_attempts: z.object({
      summary: z.object({
        total_candidates_tried: z.int(),
        successful_candidate: z
          .object({ connection_id: z.string().nullable(), provider: z.string(), model: z.string() })
          .nullable(),
        total_duration_ms: z.int(),
      }),
      attempts: z.array(LogAttempt),
    }),
  })
  .meta({ ref: 'RequestLogDetails' })
export type LogDetails = z.output<typeof LogDetails>

export const LogList = z.object({ logs: z.array(ListedLog), pagination: Pagination })

const summed = {
  requests: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cached_tokens: z.int().describe('Of the input, those that were read from a prompt cache'),
  cache_savings: z.number().describe('USD that caches saved; below 0 where they cost more'),
  cost: usd,
}

const timed = (what: string) => z.int().nullable().describe(what)

export const Stats = z
  .object({
    period: z.object({ start: z.iso.datetime(), end: z.iso.datetime() }),
    total_requests: z
      .int()
      .describe('Every request in the log: those that succeeded, failed, or were cancelled'),
    successful_requests: z.int(),
    failed_requests: z.int(),
    cancelled_requests: z.int(),
    success_rate: z
      .number()
      .nullable()
      .describe('Percent of those that succeeded or failed; null where there are none'),
    total_tokens: z.int(),
    input_tokens: z.int(),
    output_tokens: z.int(),
    cached_tokens: z.int().describe('Of the input, those that were read from a prompt cache'),
    cache_write_tokens: z.int().describe('Of the input, those that were written to one'),
    cache_hit_rate: z
      .number()
      .nullable()
      .describe(
        'Percent of the input tokens that were read from a cache; null where there are none',
      ),
    cache_savings: z.number().describe('USD that caches saved; below 0 where they cost more'),
    total_cost: usd,
    avg_latency_ms: z.number().nullable().describe('Of those that succeeded'),
    p50_latency_ms: timed('Of those that succeeded, the newest 50000'),
    p95_latency_ms: timed('Of those that succeeded, the newest 50000'),
    p50_time_to_first_token_ms: timed('Of streams that succeeded; null where there are none'),
    p95_time_to_first_token_ms: timed('Of streams that succeeded; null where there are none'),
    avg_overhead_ms: z
      .number()
      .nullable()
      .describe(
        'What this service itself took of the newest 5000 that succeeded: their latency without the time that providers were asked',
      ),
    p95_overhead_ms: timed('Of the same; whole milliseconds'),
    by_model: z.array(z.object({ model: z.string(), ...summed })),
    by_provider: z.array(z.object({ provider: z.string().nullable(), ...summed })),
    by_key: z.array(
      z.object({
        api_key_id: z
          .string()
          .nullable()
          .describe('Also of a key that was deleted; `session` for the dashboard'),
        api_key_prefix: z.string().nullable(),
        ...summed,
      }),
    ),
    by_error: z.array(z.object({ code: z.string(), count: z.int() })),
  })
  .meta({ ref: 'RequestLogStats' })
export type Stats = z.output<typeof Stats>
