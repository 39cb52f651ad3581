import { createPartsReader } from './parts'
import { toMessagesRequest } from './request'
import type { Adapter } from '../adapter'
import { toCallerError } from '../upstream-error'

/** The Messages format. Source: contract 12.6. */
export const anthropic = {
  framing: 'sse',
  format: 'messages',
  request: toMessagesRequest,
  reader: createPartsReader,
  toolNames: /^[a-zA-Z0-9_-]{1,128}$/,
  toError: toCallerError,
} satisfies Adapter
