import { ownFormat } from './own-format'
import { partsReader } from './parts'
import { toMessagesRequest } from './request'
import type { Adapter } from '../adapter'

/** The Messages format. Source: contract 12.6. */
export const anthropic = {
  framing: 'sse',
  request: toMessagesRequest,
  reader: partsReader,
  toolNames: /^[a-zA-Z0-9_-]{1,128}$/,
  own: ownFormat,
} satisfies Adapter
