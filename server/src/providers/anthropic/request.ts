import { fitBlocks } from './breakpoints'
import { toConversation } from './conversation'
import { getClaudeFamily, type ClaudeFamily } from './families'
import { toJsonAnswer } from './json-answer'
import { toClaudeThinking, type ClaudeThinking } from './thinking'
import { toTools } from './tools'
import type { ChatRequest } from '../../wire/chat-request'
import type { JsonObject } from '../../wire/json-body'
import type { AdapterTarget, UpstreamRequest } from '../adapter'
import { findOmittedFields } from '../omitted-fields'
import { boundedIdentifier } from '../openai/identifiers'
import { refuseForeign } from '../unsupported-fields'

/** Later versions refuse sampling settings even at their defaults. */
const headers = { 'anthropic-version': '2023-06-01' }

const usualMaxTokens = 4096

/** `POST /v1/messages`. @see https://docs.claude.com/en/api/messages */
export function toMessagesRequest(chat: ChatRequest, target: AdapterTarget): UpstreamRequest {
  refuseForeign(chat)
  const family = getClaudeFamily(target.upstreamModel)
  const unreadable: string[] = []
  const { system, messages, lostThoughts } = toConversation(chat.messages, {
    sendsThoughts: target.signatures !== 'replaced',
    omit: (field) => unreadable.push(field),
  })
  const requestedTokens = target.maxTokens ?? family.maxOutput ?? usualMaxTokens
  const maxTokens = Math.min(requestedTokens, family.maxOutput ?? requestedTokens)
  const thinking = toClaudeThinking(chat.reasoning_effort, { family, maxTokens, lostThoughts })
  const tools = toTools(chat, { family, isThinking: thinking.isOn })
  const { format, instruction, ...answerTool } = toJsonAnswer(chat.response_format, {
    family,
    mayForce: !tools.tools && family.forcedTool && !thinking.isOn,
  })
  if (instruction) system.push({ type: 'text', text: instruction })
  fitBlocks([...(tools.tools ?? []), ...system, ...messages.flatMap(({ content }) => content)])
  const outputConfig = {
    ...(thinking.effort && { effort: thinking.effort }),
    ...(format && { format }),
  }
  const stops = stopsOf(chat)
  const body: JsonObject = {
    model: target.upstreamModel,
    max_tokens: maxTokens,
    ...(system.length > 0 && { system }),
    messages,
    ...samplingOf(chat, family, thinking.isOn),
    ...(stops.length > 0 && { stop_sequences: stops }),
    ...tools,
    ...answerTool,
    ...(thinking.field && { thinking: thinking.field }),
    ...(Object.keys(outputConfig).length > 0 && { output_config: outputConfig }),
    ...endUserOf(chat),
    stream: true,
  }
  return {
    path: '/v1/messages',
    headers,
    body,
    omitted: findOmittedFields(chat, appliedFields(body, thinking), unreadable),
  }
}

/** Returns the fields of a chat that this request carries, beside those that all carry. */
const appliedFields = (body: JsonObject, { field, effort }: ClaudeThinking): string[] => [
  'parallel_tool_calls',
  'user',
  'safety_identifier',
  ...['temperature', 'top_p'].filter((name) => name in body),
  ...('stop_sequences' in body ? ['stop'] : []),
  ...(field || effort ? ['reasoning_effort'] : []),
]

/** OpenAI has two names for the end user. */
function endUserOf(chat: ChatRequest): JsonObject {
  const user = chat.user || boundedIdentifier(chat['safety_identifier'])
  return typeof user === 'string' ? { metadata: { user_id: user } } : {}
}

function samplingOf(
  chat: ChatRequest,
  { sampling }: ClaudeFamily,
  isThinking: boolean,
): JsonObject {
  const { temperature, top_p: topP } = chat
  if (!sampling || isThinking) return {}
  // OpenAI goes to 2, and takes both.
  if (typeof temperature === 'number') return { temperature: Math.min(temperature, 1) }
  return typeof topP === 'number' ? { top_p: topP } : {}
}

/** Anthropic rejects a stop sequence of white space alone, so it is left out. */
function stopsOf({ stop }: ChatRequest): string[] {
  const stops = typeof stop === 'string' ? [stop] : (stop ?? [])
  return stops.filter((text) => text.trim() !== '')
}
