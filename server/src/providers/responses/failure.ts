import type { ApiError } from '../../errors'
import { toCallerError, type UpstreamFailure, type ErrorSource } from '../upstream-error'
import { isObject } from '../../wire/json-body'

/** A refusal, with the field as the caller knows it. */
export function toError(failure: UpstreamFailure, source: ErrorSource): ApiError {
  const { body } = failure
  const error = isObject(body) && isObject(body['error']) ? body['error'] : undefined
  if (!error || typeof error['param'] !== 'string') return toCallerError(failure, source)
  const param = formatCallerField(error['param'], source)
  return toCallerError({ ...failure, body: { error: { ...error, param } } }, source)
}

function formatCallerField(param: string, source: ErrorSource): string {
  const [root = ''] = param.split(/[.[]/)
  switch (root) {
    case 'input':
      // Its place among the items is not that among the messages.
      return source.textField
    case 'text':
      return 'response_format'
    case 'reasoning':
      return source.wasSent('reasoning_effort') ? 'reasoning_effort' : 'reasoning'
    case 'max_output_tokens':
      return source.wasSent('max_completion_tokens') ? 'max_completion_tokens' : 'max_tokens'
    default:
      return param
  }
}

/** Words about thoughts that another key or account encrypted, or that another server showed or keeps. */
const aboutThoughts =
  /encrypted.content|reasoning.{0,40}item|\bitem with id.{0,8}\brs_|input\[\d+\]\.content.{0,300}array_above_max_length/i

const rejections: ReadonlySet<number> = new Set([400, 404])

/** Returns whether the provider refused thoughts in the history. */
export const refusesSignatures = ({ status, body }: UpstreamFailure): boolean =>
  rejections.has(status) && aboutThoughts.test(JSON.stringify(body) ?? '')
