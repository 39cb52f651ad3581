import { historyShape, weigh } from './stored-json'
import { invalidRequest } from '../errors'
import type { JsonObject } from '../wire/json-body'

/** Statuses of responses that have not ended, or that no request can continue. */
const unfinished = /^(queued|in_progress|failed|cancelled)$/

/** Throws `invalid_request` where a response cannot be continued. */
export function assertEnded(status: unknown): void {
  if (typeof status !== 'string' || !unfinished.test(status)) return
  throw invalidRequest(
    'previous_response_id',
    'wrong_state',
    `previous_response_id: this response has the status ${status}; only a completed or incomplete response can be continued.`,
  )
}

/** Rejects background mode where nothing is stored. */
export const storageDisabled = () =>
  invalidRequest(
    'background',
    'not_allowed',
    'background: responses are not stored on this server, so background mode is not available.',
  )

/** Rejects a background request that is not to be stored. */
export const notStored = () =>
  invalidRequest(
    'store',
    'conflict',
    'store: background responses are always stored. Remove store, or set it to true.',
  )

/** Rejects a background request that continues what is not stored here. */
export const unknownHistory = (field: string) =>
  invalidRequest(
    field,
    'not_allowed',
    `${field}: not stored for this account; a background response can only continue a stored one.`,
  )

/** Rejects a request that continues a response and a conversation. */
export const conflictingHistory = () =>
  invalidRequest(
    'previous_response_id',
    'conflict',
    'previous_response_id: cannot be combined with conversation.',
  )

/** Throws `invalid_request` where a history has more structure than a request may continue. */
export function assertLight(history: readonly JsonObject[]): void {
  const { maxNodes } = historyShape
  if (weigh(history) <= maxNodes) return
  throw invalidRequest(
    'previous_response_id',
    'limit_reached',
    `previous_response_id: the inputs and outputs before this request have more than ${maxNodes} objects, lists and names. Begin anew.`,
  )
}
