import { History } from './messages'
import type { ResponsesRequest } from './request'
import { toChatTools } from './tools'
import type { JsonObject } from '../../wire/json-body'

/** What means the same in a chat request. */
const shared = [
  'model',
  'temperature',
  'top_p',
  'parallel_tool_calls',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'service_tier',
] as const

/** The chat request that stands in for a request for a Response. Throws `invalid_request`. */
export function toChat(request: ResponsesRequest): JsonObject {
  const { max_output_tokens: limit, reasoning, stream, text } = request
  const same = shared.flatMap((name) => {
    const value = request[name]
    return value === undefined || value === null ? [] : [[name, value]]
  })
  const format = toFormat(text?.format)
  return {
    ...Object.fromEntries(same),
    messages: toMessages(request),
    ...(typeof limit === 'number' && { max_completion_tokens: limit }),
    ...toChatTools(request),
    ...(format && { response_format: format }),
    ...(text?.verbosity && { verbosity: text.verbosity }),
    ...(reasoning?.effort && { reasoning_effort: reasoning.effort }),
    ...(stream && { stream, stream_options: { include_usage: true } }),
  }
}

function toMessages({ instructions, input }: ResponsesRequest): JsonObject[] {
  const history = new History()
  if (instructions) history.add({ role: 'system', content: instructions }, 'instructions')
  if (typeof input === 'string') history.add({ role: 'user', content: input }, 'input')
  else for (const [index, item] of input.entries()) history.add(item, `input.${index}`)
  return history.messages()
}

type Format = NonNullable<ResponsesRequest['text']>['format']

function toFormat(format: Format): JsonObject | undefined {
  if (!format || format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json_object' }
  const { name, schema, strict, description } = format
  return {
    type: 'json_schema',
    json_schema: {
      name,
      ...(description && { description }),
      schema,
      ...(typeof strict === 'boolean' && { strict }),
    },
  }
}

/** A field of the chat request as its caller knows it; one of the caller's own as it is. */
export function callersField(param: string): string {
  const [root = ''] = param.split('.')
  // A place among the messages, or among the tools that are left, is not that in the request.
  if (root !== 'messages' && param.includes('.function')) return root
  switch (root) {
    case 'messages':
      return 'input'
    case 'max_completion_tokens':
    case 'max_tokens':
      return 'max_output_tokens'
    case 'response_format':
      return 'text.format'
    case 'verbosity':
      return 'text.verbosity'
    case 'reasoning_effort':
      return 'reasoning.effort'
    default:
      return param
  }
}
