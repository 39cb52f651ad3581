import { toInput } from './input'
import type { AdapterTarget, UpstreamRequest } from '../adapter'
import { boundedIdentifier } from '../openai/identifiers'
import { findOmittedFields } from '../omitted-fields'
import { readToolUse, type FunctionTool } from '../tool-choice'
import { refuseForeign } from '../unsupported-fields'
import type { ChatRequest } from '../../wire/chat-request'
import { isObject, type JsonObject } from '../../wire/json-body'

/** The least output limit that is taken. */
const minTokens = 16

/** Fields that mean the same in a Response. */
const shared = [
  'user',
  'safety_identifier',
  'metadata',
  'service_tier',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
]

/**
 * `POST /responses`, where nothing is stored: the model's thoughts come back encrypted instead. Stops,
 * seeds, penalties and biases have no counterpart: they are named as omitted.
 * @see https://platform.openai.com/docs/api-reference/responses/create
 */
export function toResponse(chat: ChatRequest, target: AdapterTarget): UpstreamRequest {
  const unreadable: string[] = []
  const input = toInput(chat, {
    sendsThoughts: target.signatures !== 'replaced',
    customTools: target.customTools,
    omit: (field) => unreadable.push(field),
  })
  const fields = { input, ...toTools(chat, target.customTools), ...toText(chat) }
  return toRequest(chat, target, { fields, unreadable })
}

function toRequest(
  chat: ChatRequest,
  target: AdapterTarget,
  { fields, unreadable }: { fields: JsonObject; unreadable: readonly string[] },
): UpstreamRequest {
  refuseForeign(chat)
  const { maxTokens, capabilities, upstreamModel } = target
  const effort = chat.reasoning_effort
  const sampling = toSampling(chat, capabilities.reasoning && effort !== 'none')
  return {
    path: '/responses',
    body: {
      model: upstreamModel,
      ...(maxTokens !== undefined && { max_output_tokens: Math.max(minTokens, maxTokens) }),
      ...(effort && { reasoning: { effort } }),
      ...sampling,
      ...fields,
      ...Object.fromEntries(
        shared.flatMap((name) => {
          const value = chat[name]
          return value === undefined || value === null ? [] : [[name, boundedIdentifier(value)]]
        }),
      ),
      ...(capabilities.reasoning && { include: ['reasoning.encrypted_content'] }),
      store: false,
      stream: true,
    },
    omitted: findOmittedFields(
      chat,
      [...shared, ...alwaysSupported, ...Object.keys(sampling)],
      unreadable,
    ),
  }
}

const alwaysSupported = ['parallel_tool_calls', 'reasoning_effort', 'verbosity']

/** A model that thinks refuses these settings. */
function toSampling({ temperature, top_p }: ChatRequest, isThinking: boolean): JsonObject {
  if (isThinking) return {}
  return {
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof top_p === 'number' && { top_p }),
  }
}

function toTools(chat: ChatRequest, customTools: AdapterTarget['customTools']): JsonObject {
  const { tools, choice } = readToolUse(chat)
  if (tools.length === 0) return {}
  const isParallel = chat.parallel_tool_calls
  return {
    tools: tools.map((tool) => {
      const custom = customTools?.get(tool.name)
      return custom ? toCustomTool(custom) : toFunctionTool(tool)
    }),
    tool_choice:
      typeof choice === 'object'
        ? { type: customTools?.has(choice.name) ? 'custom' : 'function', ...choice }
        : choice,
    ...(typeof isParallel === 'boolean' && { parallel_tool_calls: isParallel }),
  }
}

const toFunctionTool = ({ name, description, parameters, strict }: FunctionTool): JsonObject => ({
  type: 'function',
  name,
  ...(description !== undefined && { description }),
  parameters,
  // Left out it would be true, other than in chat.
  strict: strict ?? false,
})

/** Chat has a grammar in an object of its own. */
function toCustomTool({ format, ...tool }: JsonObject): JsonObject {
  if (!isObject(format)) return { type: 'custom', ...tool }
  const { grammar, ...rest } = format
  return { type: 'custom', ...tool, format: { ...rest, ...(isObject(grammar) && grammar) } }
}

function toText(chat: ChatRequest): JsonObject {
  const format = toFormat(chat.response_format)
  const verbosity: unknown = chat['verbosity']
  const text = { ...(format && { format }), ...(typeof verbosity === 'string' && { verbosity }) }
  return Object.keys(text).length > 0 ? { text } : {}
}

function toFormat(format: ChatRequest['response_format']): JsonObject | undefined {
  if (!format || format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json_object' }
  const { name, schema, strict, description } = format.json_schema
  return {
    type: 'json_schema',
    name,
    ...(typeof description === 'string' && { description }),
    schema: schema ?? {},
    ...(typeof strict === 'boolean' && { strict }),
  }
}
