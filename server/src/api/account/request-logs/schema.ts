import { z } from 'zod'
import { ChargeLines } from './charge-lines'
import { ChargedPriceAnswer } from '../../../catalog/charged-price'
import { pageFields, Pagination } from '../../../http/paging'
import { timestamp } from '../../../http/fields'
import { payerFields } from '../../../http/payer'
import { searchText } from '../../../http/query'
import { customIssue } from '../../../wire/field-error'
import { TagFilter } from '../../../wire/tags'
import { maxInteger } from '../../../platform/integer'
import { toLogSearch, type LogSearch } from '../../../request-logs/log-search'

const dayMs = 86_400_000

/** Exclusive; a date alone counts to the end of that day. Source: contract 1.5. */
const end = z.union([
  z.iso.date().transform((text) => new Date(new Date(text).getTime() + dayMs)),
  timestamp,
])

const milliseconds = z.coerce.number().int().min(0).max(maxInteger)
const status = z.enum(['success', 'error', 'cancelled'])
const billingMode = z.enum(['platform', 'house', 'byok', 'org_pays', 'member_pays', 'free'])

/** The longest period in which errors are searched: it bounds the rows that a search reads. */
export const maxErrorSearchDays = 31

/** The fields that filter logs. */
export const logFilterFields = {
  search: searchText(
    `Only the request with this id, those whose ids begin with it (8 characters or more), or those that failed with this text in the code or the message of their error; errors of the last 7 days without \`start_date\`, of at most ${maxErrorSearchDays} days with it`,
  )
    .transform((text) => (text === undefined ? undefined : toLogSearch(text)))
    .optional(),
  model: z.string().max(256).optional().describe('Only requests that this model served'),
  provider: z.string().max(40).optional().describe('Only requests that this provider served'),
  status: status.optional().describe('Only requests with this status'),
  api_key_id: z.string().max(100).optional().describe('Only requests of this API key'),
  tag: TagFilter.optional().describe('Only requests with this tag, or with all of `a, b`'),
  gateway_id: z.string().max(100).optional().describe('Only requests of this self-hosted gateway'),
  start_date: timestamp.optional().describe('Only requests from this time or day on'),
  end_date: end.optional().describe('Only requests before this time, or up to this day'),
  min_latency: milliseconds
    .optional()
    .describe('Only requests that took this many milliseconds or more'),
  max_latency: milliseconds
    .optional()
    .describe('Only requests that took this many milliseconds or less'),
}

interface FilteredPeriod {
  start_date?: Date | undefined
  end_date?: Date | undefined
  search?: LogSearch | undefined
}

/** Rejects a period that ends before it starts, and one that is too long to search errors in. */
export function checkPeriod(
  { start_date: start, end_date: endDate, search }: FilteredPeriod,
  ctx: z.RefinementCtx,
): void {
  if (!start) return
  const report = (text: string) => ctx.addIssue(customIssue('out_of_range', text, ['start_date']))
  const days = ((endDate?.getTime() ?? Date.now()) - start.getTime()) / dayMs
  if (endDate && start > endDate) report('must not be after end_date.')
  // The day of the end counts in full.
  else if (search && 'errorText' in search && days > maxErrorSearchDays + 1)
    report(`must be at most ${maxErrorSearchDays} days before the end to search errors.`)
}

/** Filters of the logs. Source: contract 6.9. */
export const RequestLogFilter = z.object(logFilterFields).superRefine(checkPeriod)
export type RequestLogFilter = z.output<typeof RequestLogFilter>

/** The query of the list. */
export const RequestLogQuery = z
  .object({ ...logFilterFields, ...pageFields })
  .superRefine(checkPeriod)

const usd = z.number().describe('USD')

/** The fields of a log in a list. */
export const listedFields = {
  id: z.string().describe('The `x-request-id` of the answer'),
  model: z.string().describe('The model that served the request, else the requested one'),
  requested_model: z
    .string()
    .describe('Empty if the request was rejected before its body was read'),
  provider: z.string().nullable(),
  status,
  status_code: z.int().describe('499 if the client disconnected'),
  latency_ms: z.int().describe('To the last byte'),
  input_tokens: z.int(),
  output_tokens: z.int(),
  total_tokens: z.int(),
  cached_tokens: z.int().describe('Input tokens that were read from a prompt cache'),
  cache_write_tokens: z.int().describe('Input tokens that were written to a prompt cache'),
  cache_savings: z
    .number()
    .describe(
      'USD that the cache saved of the price; below 0 where writing cost more than reading saved',
    ),
  images: z.int().describe('Images of the answer'),
  sound_seconds: z.number().describe('Seconds of the sound that was transcribed'),
  speech_characters: z.int().describe('Unicode characters of the text that was spoken'),
  speech_seconds: z
    .number()
    .describe(
      'Seconds of its sound; an estimate by its bytes where those do not say, as in streams of FLAC',
    ),
  tags: z.array(z.string()).describe('Tags of the request and its key'),
  cost: usd,
  billing_mode: billingMode.nullable(),
  ...payerFields,
  created_at: z.iso.datetime(),
  api_key_prefix: z.string().nullable(),
  api_key_name: z.string().nullable().describe('Null where the key was deleted, or there was none'),
  error: z.object({ type: z.string(), code: z.string(), message: z.string() }).nullable(),
}

export const ListedLog = z.object(listedFields).meta({ ref: 'ListedRequestLog' })

/** The fields of a log. */
export const loggedFields = {
  ...listedFields,
  method: z.string(),
  endpoint: z.string(),
  stream: z.boolean(),
  api_key_id: z.string().nullable(),
  finish_reason: z.string().nullable(),
  connection_id: z.string().nullable(),
  gateway_type: z.int().nullable().describe('2: called by Tollgate; 3: by a self-hosted gateway'),
  organization_id: z
    .string()
    .nullable()
    .describe('The organization whose connection served it, or whose pool paid'),
  organization_name: z.string().nullable(),
  time_to_first_token_ms: z.int().nullable(),
  user: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  ip_address: z.string(),
  user_agent: z.string(),
  platform_fee: usd,
  provider_revenue: usd,
  estimated: z.boolean().describe('Tollgate counted the tokens, not the provider'),
}

export const Log = z.object(loggedFields).meta({ ref: 'RequestLog' })
export type Log = z.output<typeof Log>

const LogAttempt = z.object({
  connection_id: z.string().nullable(),
  connection_name: z.string().nullable().describe('Null where the connection was deleted'),
  provider: z.string(),
  model: z.string(),
  status: z.enum(['success', 'error', 'cancelled', 'passed_over']),
  error_code: z
    .string()
    .nullable()
    .describe('The reason why it failed or was skipped; `cooling_down` after failures'),
  started_ms: z.int().describe('Milliseconds from the start of the request to that of the attempt'),
  latency_ms: z.int(),
  time_to_first_token_ms: z
    .int()
    .nullable()
    .describe('From the start of the attempt; null where nothing was streamed'),
  cost: usd.describe('USD that the attempt was charged'),
  last_route: z
    .boolean()
    .describe('Its circuit breaker was open, and it was tried as there was no other route'),
})
export type LogAttempt = z.output<typeof LogAttempt>

/** The fields of a log with its attempts. */
export const attemptedFields = {
  pricing: ChargedPriceAnswer.nullable().describe(
    'The price it was charged by; null where it had none',
  ),
  charges: ChargeLines.describe(
    'The amounts by rate, whose sum, rounded up to a nano-dollar, is the charge; null where nothing was charged by rates, or they do not add up to the charge',
  ),
  measured: z
    .object({
      searches: z.int().describe('Web searches by the provider'),
      input_characters: z.int().nullable().describe('Unicode characters of the prompt’s texts'),
      output_characters: z.int().nullable(),
      processing_ms: z
        .int()
        .nullable()
        .describe('As the provider reported it, else as long as the attempt ran'),
      audio_ms: z.int().nullable().describe('The sound that a transcription read'),
    })
    .nullable()
    .describe(
      'Charged units other than tokens; characters and time are null if the price has no rate for them',
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
}

export const LogDetails = z
  .object({
    ...loggedFields,
    request_body: z
      .string()
      .nullable()
      .describe('As it came, secrets removed, at most 64 KB; null unless bodies are kept'),
    response_body: z
      .string()
      .nullable()
      .describe('JSON; of a stream the answer that it stands for. As above'),
    ...attemptedFields,
  })
  .meta({ ref: 'RequestLogDetails' })
export type LogDetails = z.output<typeof LogDetails>

export const LogList = z.object({ logs: z.array(ListedLog), pagination: Pagination })

const summed = {
  requests: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cached_tokens: z.int().describe('Input tokens that were read from a prompt cache'),
  cache_savings: z.number().describe('USD that caches saved; below 0 where they cost more'),
  cost: usd,
}

const timed = (label: string) => z.int().nullable().describe(label)

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
      .describe('Percent of those that succeeded or failed; null without any'),
    total_tokens: z.int(),
    input_tokens: z.int(),
    output_tokens: z.int(),
    cached_tokens: z.int().describe('Input tokens that were read from a prompt cache'),
    cache_write_tokens: z.int().describe('Input tokens that were written to a prompt cache'),
    cache_hit_rate: z
      .number()
      .nullable()
      .describe('Percent of the input tokens that were read from a cache; null without any'),
    cache_savings: z.number().describe('USD that caches saved; below 0 where they cost more'),
    total_cost: usd,
    avg_latency_ms: z.number().nullable().describe('Of those that succeeded'),
    p50_latency_ms: timed('Of those that succeeded, the newest 50000'),
    p95_latency_ms: timed('Of those that succeeded, the newest 50000'),
    p50_time_to_first_token_ms: timed('Of streams that succeeded; null without any'),
    p95_time_to_first_token_ms: timed('Of streams that succeeded; null without any'),
    avg_overhead_ms: z
      .number()
      .nullable()
      .describe(
        'Overhead of Tollgate: latency without the time of attempts at providers, of the newest 5000 successes',
      ),
    p95_overhead_ms: timed('Of the same; whole milliseconds'),
    by_model: z.array(z.object({ model: z.string(), ...summed })),
    by_provider: z.array(z.object({ provider: z.string().nullable(), ...summed })),
    by_key: z.array(
      z.object({
        api_key_id: z
          .string()
          .nullable()
          .describe('Includes deleted keys; `session` for the dashboard'),
        api_key_prefix: z.string().nullable(),
        ...summed,
      }),
    ),
    by_payer: z
      .array(z.object({ ...payerFields, organization_id: z.string().nullable(), ...summed }))
      .describe('By payer, highest cost first'),
    by_error: z.array(z.object({ code: z.string(), count: z.int() })),
  })
  .meta({ ref: 'RequestLogStats' })
export type Stats = z.output<typeof Stats>
