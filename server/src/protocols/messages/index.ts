import { toMessage } from './answer'
import { hostedUsesIn } from './hosted-uses'
import { toCallerField, findOmittedFields } from './omitted-fields'
import { stripUnpricedMessage } from './strip-unpriced'
import { toChatRequest } from './request'
import { CountRequest, MessagesRequest } from './schema'
import { errorFormat } from './error-format'
import { MessageWriter } from './writer'
import type { ApiError } from '../../errors'
import { check } from '../../wire/json-body'
import type { Dialect, Original, Translation } from '../dialect'
import { pickHeaders } from '../pick-headers'

function translate(
  request: MessagesRequest | CountRequest,
  { body, headers }: Pick<Original, 'body' | 'headers'>,
): Translation {
  const refusals: ApiError[] = []
  let unmeasured: ApiError | undefined
  const chat = toChatRequest(request, (error, size) => {
    refusals.push(error)
    if (size === 'unmeasured') unmeasured ??= error
  })
  const paid: Original['paid'] = (body, terms) => {
    if (unmeasured) throw unmeasured
    return stripUnpricedMessage(body, terms)
  }
  const uses = hostedUsesIn(body)
  const type = request.thinking?.type
  const options = {
    thinking: type === 'enabled' || type === 'adaptive',
    stopSequences: request.stop_sequences ?? [],
  }
  return {
    chat,
    original: {
      format: 'messages',
      body,
      headers,
      paid,
      hosted: () => uses,
    },
    lowersOutput,
    refusal: refusals[0],
    omitted: findOmittedFields(request),
    callersField: toCallerField,
    answer: (completion) => toMessage(completion, options),
    writer: (identity, promptTokens) => new MessageWriter(identity, options, promptTokens),
  }
}

/**
 * Clients of Anthropic request from every model the output limits of Anthropic's models; a limit too high
 * for Anthropic itself is an error.
 */
const lowersOutput: Translation['lowersOutput'] = ({ provider }) => provider !== 'anthropic'

/** Headers that belong to the content of a request. */
const forwardedHeaders = ['anthropic-version', 'anthropic-beta']

const dialect =
  (schema: typeof MessagesRequest | typeof CountRequest) =>
  (headers: Headers): Dialect => ({
    errorFormat,
    read: (body) =>
      translate(check(schema, body), { body, headers: pickHeaders(headers, forwardedHeaders) }),
  })

/** The Messages format of Anthropic, for a request with these headers. Source: contract 5.1. */
export const messages = dialect(MessagesRequest)

/** The Messages dialect for a prompt whose tokens are to be counted. */
export const messagesToCount = dialect(CountRequest)
