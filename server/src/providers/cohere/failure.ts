import type { ApiError } from '../../errors'
import { toCallerError, type Failure, type Source } from '../upstream-error'
import { isObject } from '../../wire/json-body'

const tooLong = /too many tokens|prompt.{0,40}too long/i
const capTooHigh = /max[_ ]tokens.{0,60}(?:less than or equal|must be|exceed)/i

/** A refusal of Cohere, which is `{message}` alone. */
export function toError(failure: Failure, source: Source): ApiError {
  const { body, status } = failure
  const message = isObject(body) ? body['message'] : body
  const isCallers = [400, 413, 422].includes(status)
  if (typeof message !== 'string' || !isCallers) return toCallerError(failure, source)
  // What this vendor says, in the codes that the others have.
  const code = tooLong.test(message) ? 'context_length_exceeded' : ''
  const type = code === '' && capTooHigh.test(message) ? 'max_tokens exceeded' : ''
  return toCallerError({ ...failure, body: { error: { message, code, type } } }, source)
}
