import { toCallerError, type ErrorSource } from '../../src/providers/upstream-error'
import type { ApiError } from '../../src/errors'

/** The credential of the connection. */
export const secret = 'sk-live-0123456789abcdef'
/** The source of errors of a sample provider. */
export const errorSource: ErrorSource = {
  provider: 'acme',
  secret,
  textField: 'messages',
  wasSent: (field) => ['messages', 'temperature', 'max_tokens', 'tools'].includes(field),
  contextLength: 8192,
  maxOutputTokens: 4096,
}

/** Returns the body of an error. */
export const errorBody = (fields: object) => ({ error: { message: 'No.', type: 'x', ...fields } })
/** Returns the caller's error that a provider's answer becomes. */
export const toApiError = (
  status: number,
  body: unknown = errorBody({}),
  retryAfter?: string,
): ApiError => toCallerError({ status, body, retryAfter: retryAfter ?? null }, errorSource)
