import { refusesSignatures, toError } from './failure'
import { createPartsReader } from './parts'
import { toResponse } from './request'
import { toResponseEvents } from './whole-response'
import type { Adapter } from '../adapter'

/** OpenAI's Responses, for the chat requests that a model takes only there. */
export const responses = {
  framing: 'sse',
  format: 'responses',
  request: toResponse,
  reader: createPartsReader,
  events: toResponseEvents,
  toError,
  refusesSignatures,
} satisfies Adapter
