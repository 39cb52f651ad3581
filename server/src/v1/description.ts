import { resolver } from 'hono-openapi'
import { z } from 'zod'
import { describeErrors, keyErrors } from '../http/documentation'
import { keyHeader } from '../idempotency/key'

/** Errors of the POSTs of the model endpoints. */
export const modelErrors = describeErrors(
  'invalid_request',
  'invalid_model',
  'context_length_exceeded',
  'max_tokens_exceeded',
  ...keyErrors,
  'insufficient_credits',
  'payment_required',
  'model_access_denied',
  'organization_required',
  'model_not_found',
  'tokens_per_minute_exceeded',
  'provider_error',
  'connection_failed',
  'request_timeout',
)

/** The header that makes repeats of the model endpoints' POSTs safe. Source: contract 4.9. */
export const idempotencyKey = {
  name: keyHeader,
  in: 'header',
  required: false,
  description: [
    'Names this request for 24 hours, for your account. The same key with the same path and body gets',
    'the first answer again, with `x-idempotent-replay: true`, at no cost; while the first request runs',
    'it waits for it. With another path or body it is refused: 400, issue `key_reused`. Answers given',
    'once a provider was asked are kept, errors too, up to 8 MB; a request refused before leaves the key',
    'free. With it, a plain request whose client disconnects is completed, charged and kept; a stream',
    'whose client disconnects is cancelled and not kept.',
  ].join(' '),
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
  example: 'order-1042-summary',
} as const

const chunkLines = '`data: <chunk>` lines, ended by `data: [DONE]`'

/** Documents a success that is JSON, or a stream of server-sent events; `lines` describes the events. */
export const streamOr = (description: string, schema: z.ZodType, lines = chunkLines) => ({
  200: {
    description,
    content: {
      'application/json': { schema: resolver(schema) },
      'text/event-stream': {
        schema: resolver(z.string().describe(lines)),
      },
    },
  },
})
