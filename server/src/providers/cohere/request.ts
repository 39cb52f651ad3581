import { toMessages } from './messages'
import type { AdapterTarget, UpstreamRequest } from '../adapter'
import { findOmittedFields } from '../omitted-fields'
import { readToolUse } from '../tool-choice'
import { refuseForeign, unsupported } from '../unsupported-fields'
import type { ChatRequest } from '../../wire/chat-request'
import type { JsonObject } from '../../wire/json-body'

/** `POST /v2/chat`. @see https://docs.cohere.com/v2/reference/chat-stream */
export function toChat(chat: ChatRequest, target: AdapterTarget): UpstreamRequest {
  refuseForeign(chat)
  const unreadable: string[] = []
  const tools = toTools(chat)
  const sampling = toSampling(chat)
  const thinking = toThinking(chat, target)
  return {
    path: '/v2/chat',
    body: {
      model: target.upstreamModel,
      messages: toMessages(chat, (field) => unreadable.push(field)),
      ...(target.maxTokens !== undefined && { max_tokens: target.maxTokens }),
      ...sampling,
      ...tools,
      ...toResponseFormat(chat, tools['tools'] !== undefined),
      ...thinking,
      stream: true,
    },
    omitted: findOmittedFields(
      chat,
      [
        ...Object.keys(sampling).map((name) => chatNames[name] ?? name),
        ...('thinking' in thinking ? ['reasoning_effort'] : []),
      ],
      unreadable,
    ),
  }
}

/** Settings there -> the fields of a chat that they come from, where they have another name. */
const chatNames: Readonly<Record<string, string>> = { p: 'top_p', stop_sequences: 'stop' }

const clamped = (value: number, low: number, high: number) => Math.min(high, Math.max(low, value))

function toSampling(chat: ChatRequest): JsonObject {
  const { temperature, top_p: p, seed, presence_penalty: presence, frequency_penalty: often } = chat
  const stops = typeof chat.stop === 'string' ? [chat.stop] : (chat.stop ?? [])
  return {
    ...(typeof temperature === 'number' && { temperature: Math.min(temperature, 1) }),
    ...(typeof p === 'number' && { p: clamped(p, 0.01, 0.99) }),
    ...(typeof seed === 'number' && seed >= 0 && { seed }),
    ...(typeof presence === 'number' && { presence_penalty: clamped(presence, 0, 1) }),
    ...(typeof often === 'number' && { frequency_penalty: clamped(often, 0, 1) }),
    ...(stops.length > 0 && { stop_sequences: stops }),
  }
}

/** A choice has only two values; one tool is chosen by sending no other. */
function toTools(chat: ChatRequest): JsonObject {
  const { tools, choice } = readToolUse(chat)
  const offeredTools =
    typeof choice === 'object' ? tools.filter(({ name }) => name === choice.name) : tools
  if (offeredTools.length === 0) return {}
  const isFree = choice === 'auto'
  return {
    tools: offeredTools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, ...(description !== undefined && { description }), parameters },
    })),
    ...(!isFree && { tool_choice: choice === 'none' ? 'NONE' : 'REQUIRED' }),
    ...(offeredTools.some(({ strict }) => strict) && { strict_tools: true }),
  }
}

function toResponseFormat({ response_format: format }: ChatRequest, hasTools: boolean): JsonObject {
  if (!format || format.type === 'text') return {}
  if (hasTools)
    throw unsupported(
      'response_format',
      'This model does not support JSON output together with tools.',
    )
  const schema = format.type === 'json_schema' ? format.json_schema.schema : undefined
  return { response_format: { type: 'json_object', ...(schema && { json_schema: schema }) } }
}

/** Its models think or they do not; levels of effort do not exist there. */
function toThinking(
  { reasoning_effort: effort }: ChatRequest,
  { capabilities }: AdapterTarget,
): JsonObject {
  if (!effort || !capabilities.reasoning) return {}
  return { thinking: { type: effort === 'none' ? 'disabled' : 'enabled' } }
}
