import { refusesSignatures } from './failure'
import { createPartsReader } from './parts'
import { toMessagesRequest } from './request'
import { toMessageEvents } from './whole-message'
import type { Adapter } from '../adapter'
import { toCallerError } from '../upstream-error'

/** The Messages format. Source: contract 12.6. */
export const anthropic = {
  framing: 'sse',
  format: 'messages',
  request: toMessagesRequest,
  reader: createPartsReader,
  events: toMessageEvents,
  toolNames: /^[a-zA-Z0-9_-]{1,128}$/,
  toError: toCallerError,
  refusesSignatures,
} satisfies Adapter
