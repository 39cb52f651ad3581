import type { ApiError, HttpStatus } from '../../errors'
import { namedFrame } from '../../wire/sse'
import type { ErrorFormat } from '../dialect'

const types: Partial<Record<HttpStatus, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

/** Clients compact a conversation when they read Anthropic's own words for this. */
function messageOf({ code, message, details }: ApiError): string {
  if (code !== 'context_length_exceeded') return message
  const { requested, max_context: maximum } = details
  if (typeof maximum !== 'number') return `prompt is too long: ${message}`
  return typeof requested === 'number'
    ? `prompt is too long: ${requested} tokens > ${maximum} maximum`
    : `prompt is too long: the maximum is ${maximum} tokens`
}

/** A body that is too large has a status and a type of its own, by which clients send less. */
const statusOf = ({ status, details }: ApiError): HttpStatus =>
  details['issue'] === 'body_too_large' ? 413 : status

/** The body of an error. @see https://docs.claude.com/en/api/errors */
const errorBody = (error: ApiError, requestId: string) => ({
  type: 'error',
  error: {
    type: types[statusOf(error)] ?? 'api_error',
    message: messageOf(error),
    ...(error.details['failed_generation'] !== undefined && {
      failed_generation: error.details['failed_generation'],
    }),
  },
  request_id: requestId,
})

export const errorFormat: ErrorFormat = {
  errorBody,
  status: statusOf,
  headers: (requestId) => ({ 'request-id': requestId }),
}

/** The frame that ends a stream that failed after it had begun. */
export const errorFrame = (error: ApiError, requestId: string): string =>
  namedFrame(errorBody(error, requestId))
