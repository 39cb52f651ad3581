import { createPartsReader } from './parts'
import { toChat } from './request'
import type { Adapter } from '../adapter'
import { toCallerError } from '../upstream-error'

/** Cohere, by version 2 of its API. */
export const cohere = {
  framing: 'sse',
  request: toChat,
  reader: createPartsReader,
  toError: toCallerError,
} satisfies Adapter
