import { resolver } from 'hono-openapi'
import { z } from 'zod'
import { documented, keyErrors } from '../http/documentation'

/** What the POSTs of the model endpoints can answer beside success. */
export const modelErrors = documented(
  'invalid_request',
  'invalid_model',
  'context_length_exceeded',
  'max_tokens_exceeded',
  ...keyErrors,
  'model_access_denied',
  'model_not_found',
  'tokens_per_minute_exceeded',
  'provider_error',
  'connection_failed',
  'request_timeout',
)

/** A success that is JSON, or a stream of server-sent events. */
export const streamOr = (description: string, schema: z.ZodType) => ({
  200: {
    description,
    content: {
      'application/json': { schema: resolver(schema) },
      'text/event-stream': {
        schema: resolver(z.string().describe('`data: <chunk>` lines, ended by `data: [DONE]`')),
      },
    },
  },
})
