import { isFailure } from '../event'
import type { ModerationFormat } from '../moderation-format'
import { unsupported } from '../unsupported-fields'
import { invalidAnswer, toCallerError } from '../upstream-error'
import { isObject, type JsonObject } from '../../wire/json-body'
import type { ModerationPart, ModerationRequest } from '../../wire/moderation-request'
import { readUsage } from '../../wire/usage'

/**
 * OpenAI's own moderations, which Mistral and most servers have too.
 * @see https://platform.openai.com/docs/api-reference/moderations
 */
export const openAiModerations: ModerationFormat = {
  write({ body: request, input, target: { upstreamModel, options } }) {
    const body: JsonObject = {}
    for (const [name, value] of Object.entries(request)) if (value !== null) body[name] = value
    body['model'] = upstreamModel
    body['input'] = options.moderationImages ? input : toTexts(input)
    for (const name of options.drop) delete body[name]
    return { body }
  },
  read(answer, { inputs }, source) {
    if (!isObject(answer))
      throw invalidAnswer(source.provider, 'a response that is not a JSON object')
    if (isFailure(answer)) throw toCallerError({ status: 200, body: answer }, source)
    const { results, usage } = answer
    if (!Array.isArray(results) || results.length !== inputs || !results.every(isObject)) {
      throw invalidAnswer(source.provider, 'a response without all results')
    }
    return { answer, usage: readUsage(usage, 'inside') }
  },
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
