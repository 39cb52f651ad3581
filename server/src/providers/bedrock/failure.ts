import type { ApiError } from '../../errors'
import { toCallerError, type Failure, type Source } from '../upstream-error'
import { isObject } from '../../wire/json-body'

/** The status that an exception inside a stream would have had in front of it. */
const statuses: Readonly<Record<string, number>> = {
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
}

/** What an exception inside a stream means; one that nobody knows is a failure of the provider. */
export function toStreamError(type: string, words: string, source: Source): ApiError {
  const key = type.charAt(0).toLowerCase() + type.slice(1)
  return toError({ status: statuses[key] ?? 500, body: parsed(words) }, source)
}

function parsed(words: string): unknown {
  try {
    return JSON.parse(words)
  } catch {
    return words
  }
}

const tooLong = /input is too long|too many input tokens|prompt is too long|maximum context length/i
const capTooHigh = /maximum tokens you requested exceeds|max(?:_|imum )?tokens.{0,40}exceed/i

/** A refusal of Bedrock, `{message}`, by its words where they say whose fault it is. */
export function toError(failure: Failure, source: Source): ApiError {
  const { body } = failure
  const words = isObject(body) ? (body['message'] ?? body['Message']) : body
  if (typeof words !== 'string') return toCallerError(failure, source)
  const isCallers = failure.status === 400
  const message = words.replaceAll(/arn:aws[\w-]*:[^\s"',]+/g, '[resource]')
  // What this vendor says, in the codes that the others have.
  const code = isCallers && tooLong.test(words) ? 'context_length_exceeded' : ''
  const type = isCallers && capTooHigh.test(words) ? 'max_tokens exceeded' : ''
  const param = isCallers && words.includes('toolConfig.toolChoice') ? 'tool_choice' : ''
  return toCallerError({ ...failure, body: { error: { message, code, type, param } } }, source)
}

/** Whether a history was refused for the thoughts in it. */
export const refusesSignatures = ({ status, body }: Failure): boolean =>
  status === 400 && /signature|thinking|reasoning/i.test(JSON.stringify(body) ?? '')
