import type { ApiError } from '../../errors'
import { refusesSignatures as isRefusedByClaude } from '../anthropic/failure'
import { toCallerError, type UpstreamFailure, type ErrorSource } from '../upstream-error'
import { isObject } from '../../wire/json-body'
import { parseErrorBody } from '../error-body'

/** The status that an exception inside a stream would have had in front of it. */
const statuses: ReadonlyMap<string, number> = new Map(
  Object.entries({
    throttlingException: 429,
    serviceQuotaExceededException: 429,
    modelNotReadyException: 503,
    serviceUnavailableException: 503,
    validationException: 400,
    accessDeniedException: 403,
    resourceNotFoundException: 404,
    modelTimeoutException: 408,
    modelStreamErrorException: 424,
    modelErrorException: 424,
    internalServerException: 500,
  }),
)

/** Translates an exception inside a stream; an unknown one is a failure of the provider. */
export function toStreamError(type: string, messageText: string, source: ErrorSource): ApiError {
  const key = type.charAt(0).toLowerCase() + type.slice(1)
  return toError({ status: statuses.get(key) ?? 500, body: parseErrorBody(messageText) }, source)
}

/** Translates a refusal of Bedrock, `{message}`, without the names of the resources in it. */
export function toError(failure: UpstreamFailure, source: ErrorSource): ApiError {
  const { body, status } = failure
  const messageText = isObject(body) ? (body['message'] ?? body['Message']) : body
  if (typeof messageText !== 'string') return toCallerError(failure, source)
  const message = messageText.replaceAll(/arn:aws[\w-]*:[^\s"',]+/g, '[resource]')
  // The field as the caller knows it.
  const param = status === 400 && messageText.includes('toolConfig.toolChoice') ? 'tool_choice' : ''
  return toCallerError({ ...failure, body: { error: { message, param } } }, source)
}

/**
 * Returns whether Bedrock refused a history for the thoughts in it: in Claude's own words, or by the name that they
 * have in its format.
 */
export const refusesSignatures = (failure: UpstreamFailure): boolean =>
  isRefusedByClaude(failure) ||
  (failure.status === 400 && /reasoning ?content/i.test(JSON.stringify(failure.body) ?? ''))
