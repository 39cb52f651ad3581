import type { Provider } from '../../src/providers/provider'
import type { JsonObject } from '../../src/wire/json-body'

/** One service's answer to a prompt that is too long for a model, and the lengths that it gives. */
export interface OverflowRow {
  service: string
  /** Its key in the registry. */
  provider: Provider['key']
  status: number
  body: JsonObject | string | JsonObject[]
  /** The maximum in tokens; null where the text has no number. */
  maximum: number | null
  requested: number | null
}

export const openAi = (message: string, fields: JsonObject = {}): JsonObject => ({
  error: { message, type: 'invalid_request_error', param: null, code: null, ...fields },
})
export const claude = (message: string): JsonObject => ({
  type: 'error',
  error: { type: 'invalid_request_error', message },
  request_id: 'req_011C',
})
export const google = (message: string): JsonObject => ({
  error: { code: 400, message, status: 'INVALID_ARGUMENT' },
})
export const row = (
  [service, provider, status]: readonly [string, string, number],
  body: OverflowRow['body'],
  [maximum, requested]: readonly [number | null, number | null],
): OverflowRow => ({ service, provider, status, body, maximum, requested })
