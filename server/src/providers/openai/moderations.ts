import type { RelayTarget } from './request'
import { isFailure } from '../event'
import { unsupported } from '../unsupported-fields'
import { invalidAnswer, toCallerError, type ErrorSource } from '../upstream-error'
import { isObject, type JsonObject } from '../../wire/json-body'
import type { ModerationPart, ModerationRequest } from '../../wire/moderation-request'
import { readUsage, type Usage } from '../../wire/usage'

/** The upstream request. Throws `invalid_request` for an image that the provider cannot read. */
export function toUpstreamModeration(
  request: JsonObject,
  input: ModerationRequest['input'],
  { upstreamModel, options }: RelayTarget,
): JsonObject {
  const body: JsonObject = {}
  for (const [name, value] of Object.entries(request)) if (value !== null) body[name] = value
  body['model'] = upstreamModel
  body['input'] = options.moderationImages ? input : toTexts(input)
  for (const name of options.drop) delete body[name]
  return body
}

/** Joins the parts of one input, which all are to be texts. */
function toTexts(input: ModerationRequest['input']): string | string[] {
  if (typeof input === 'string') return input
  const texts: string[] = []
  const partTexts: string[] = []
  for (const [index, item] of input.entries()) {
    if (typeof item === 'string') texts.push(item)
    else partTexts.push(toPartText(item, `input.${index}`))
  }
  return partTexts.length > 0 ? partTexts.join('\n') : texts
}

function toPartText(part: ModerationPart, param: string): string {
  if (part.type === 'text') return part.text
  throw unsupported(param, `${param}: this model reads text, and no images.`)
}

/** Reads an answer: it has a result for each input, and its usage if it has one. Throws `provider_error`. */
export function readModeration(
  answer: unknown,
  inputs: number,
  source: ErrorSource,
): { answer: JsonObject; usage: Usage | undefined } {
  if (!isObject(answer))
    throw invalidAnswer(source.provider, 'a response that is not a JSON object')
  if (isFailure(answer)) throw toCallerError({ status: 200, body: answer }, source)
  const { results, usage } = answer
  if (!Array.isArray(results) || results.length !== inputs || !results.every(isObject)) {
    throw invalidAnswer(source.provider, 'a response without all results')
  }
  return { answer, usage: readUsage(usage, 'inside') }
}
