import { ownFormat } from './own-format'
import { partsReader } from './parts'
import { toMessagesRequest } from './request'
import type { Adapter } from '../adapter'

/** The Messages format. Source: wire.md 8. */
export const anthropic = {
  framing: 'sse',
  request: toMessagesRequest,
  reader: partsReader,
  own: ownFormat,
} satisfies Adapter
