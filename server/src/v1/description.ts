import { z } from 'zod'
import type { ErrorCode } from '../errors'
import { tagsHeader } from '../gateway/request-tags'
import { keyHeader } from '../idempotency/key'
import { maxTags } from '../wire/tags'

/** Errors of the POSTs of the model endpoints, beyond those of their key. */
export const modelErrors = [
  'invalid_request',
  'invalid_model',
  'context_length_exceeded',
  'max_tokens_exceeded',
  'insufficient_credits',
  'payment_required',
  'model_access_denied',
  'organization_required',
  'model_not_found',
  'tokens_per_minute_exceeded',
  'provider_error',
  'connection_failed',
  'request_timeout',
] as const satisfies readonly ErrorCode[]

/** Those of the endpoints of images. */
export const imageErrors = [
  ...modelErrors,
  'images_per_minute_exceeded',
] as const satisfies readonly ErrorCode[]

/** Those of the endpoints of speech and transcriptions. */
export const soundErrors = [
  ...modelErrors,
  'audio_seconds_per_minute_exceeded',
] as const satisfies readonly ErrorCode[]

/** Request headers of the model endpoints' POSTs: one makes repeats safe. Source: contract 4.9, 4.16. */
export const modelHeaders = {
  [keyHeader]: z
    .string()
    .min(1)
    .max(255)
    .regex(/^[ -~]+$/)
    .optional()
    .describe(
      [
        'Names this request for 24 hours, for your account. A repeat with the same key, path and body receives the first',
        'answer again, with `x-idempotent-replay: true`, free of charge; while the first request runs, the repeat waits.',
        'With another path or body it is rejected: 400, issue `key_reused`. Answers from a provider are stored, errors',
        'too, up to 8 MB; a request that is rejected before leaves the key free. With this header, a request without',
        'streaming whose client disconnects is completed, charged and stored; a stream whose client disconnects is',
        'cancelled and not stored.',
      ].join(' '),
    )
    .meta({ examples: ['order-1042-summary'] }),
  [tagsHeader]: z
    .string()
    .max(1000)
    .optional()
    .describe(
      `Tags of this request beside those of its key, separated by commas: at most ${maxTags}. Request logs and usage are filtered and grouped by them`,
    )
    .meta({ examples: ['team:search, batch'] }),
}

const chunkLines = '`data: <chunk>` lines, ended by `data: [DONE]`'

/** Describes an answer that is JSON, or a stream of server-sent events; `lines` describes the events. */
export const jsonOrEvents = (description: string, schema: z.ZodType, lines = chunkLines) => ({
  description,
  content: {
    'application/json': schema,
    'text/event-stream': z.string().describe(lines),
  },
})
