import { toCallerField } from './field-name'
import {
  toErrorBody as toTollgateBody,
  type ApiError,
  type ErrorBody,
  type ErrorCode,
} from '../../errors'
import type { JsonObject } from '../../wire/json-body'
import type { ErrorFormat } from '../dialect'

/** The body of an error: OpenAI's, with the field as the caller knows it. */
export function toResponsesErrorBody(error: ApiError, requestId: string): ErrorBody {
  const body = toTollgateBody(error, requestId)
  const { param, message } = body.error
  if (param === null) return body
  const field = toCallerField(param)
  const messageText = message.startsWith(`${param}:`)
    ? field + message.slice(param.length)
    : message
  return { ...body, error: { ...body.error, param: field, message: messageText } }
}

export const errorFormat: ErrorFormat = { errorBody: toResponsesErrorBody }

/** Codes that clients of this format act upon. */
const knownCodes: Partial<Record<ErrorCode, string>> = {
  context_length_exceeded: 'context_length_exceeded',
  rate_limit_exceeded: 'rate_limit_exceeded',
  tokens_per_minute_exceeded: 'rate_limit_exceeded',
  images_per_minute_exceeded: 'rate_limit_exceeded',
  audio_seconds_per_minute_exceeded: 'rate_limit_exceeded',
  insufficient_credits: 'insufficient_quota',
  payment_required: 'insufficient_quota',
  invalid_request: 'invalid_prompt',
}

/** Returns the `error` of a Response that failed. The format has few codes; Tollgate's is in `details`. */
export function toFailure(error: ApiError, requestId: string): JsonObject {
  const { code, message, details } = toResponsesErrorBody(error, requestId).error
  return {
    code: knownCodes[code] ?? 'server_error',
    message,
    details: { ...details, code, request_id: requestId },
  }
}
