import { pathOf } from './address'
import { answerTool, toAnswerTool } from './answer-tool'
import { fitCachePoints, toCachePoints } from './cache-points'
import { getBedrockFamily, type BedrockFamily } from './families'
import { toHistory } from './messages'
import { hasLostThoughts, toThinking } from './thinking'
import type { AdapterTarget, UpstreamRequest } from '../adapter'
import { findOmittedFields } from '../omitted-fields'
import { toStrictSchema } from '../anthropic/schema'
import { toTurns, type HistoryTurn } from '../conversation'
import { refuseForeign, unsupported } from '../unsupported-fields'
import { readToolUse, type FunctionTool, type ToolUse } from '../tool-choice'
import type { ChatRequest } from '../../wire/chat-request'
import type { JsonObject } from '../../wire/json-body'

/**
 * `POST /model/{id}/converse-stream`.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
 */
export function toConverse(chat: ChatRequest, target: AdapterTarget): UpstreamRequest {
  refuseForeign(chat)
  const family = getBedrockFamily(target.upstreamModel)
  const unreadable: string[] = []
  const turns = toTurns(chat, (field) => unreadable.push(field))
  const jsonFormat = jsonFormatOf(chat)
  const toolUse = withSchema(readToolUse(chat), jsonFormat, family)
  const keepsThoughts = family.claude !== undefined && target.signatures !== 'replaced'
  // A call cannot be forced on a Claude that thinks, and this answer has to come as one.
  const isForced = family.claude && toolUse.tools.some(({ name }) => name === answerTool)
  const thinking = toThinking(isForced ? undefined : chat.reasoning_effort, family, {
    maxTokens: target.maxTokens,
    lostThoughts: hasLostThoughts(turns, keepsThoughts),
  })
  const hasTools = toolUse.choice !== 'none'
  const history = toHistory(withInstruction(turns, chat), {
    media: target.media,
    cachePoints: family.cachePoints,
    documents: new Set(),
    callIds: family.callIds,
    hasTools,
    hasThoughts: keepsThoughts,
  })
  const [tools = [], system = [], ...contents] = fitCachePoints([
    hasTools ? toolUse.tools.flatMap((tool) => toToolBlocks(tool, family)) : [],
    history.system,
    ...history.messages.map(({ content }) => content),
  ])
  const inference = toInference(chat, target, { family, isThinking: thinking.isOn })
  return {
    path: pathOf(target.upstreamModel, 'converse-stream'),
    headers: { accept: 'application/vnd.amazon.eventstream' },
    body: {
      ...(system.length > 0 && { system }),
      messages: history.messages.map(({ role }, at) => ({ role, content: contents[at] ?? [] })),
      inferenceConfig: inference,
      ...(hasTools && {
        toolConfig: { tools, ...toToolChoiceField(toolUse, family, thinking.isOn) },
      }),
      ...toOutputConfig(jsonFormat, family, target),
      ...(Object.keys(thinking.fields).length > 0 && {
        additionalModelRequestFields: thinking.fields,
      }),
      // Converse itself does not say which of them ended the answer.
      ...(family.claude && inference['stopSequences'] !== undefined && namesStop),
    },
    omitted: findOmittedFields(
      chat,
      [
        ...Object.keys(inference).map((name) => chatNames[name] ?? name),
        ...(Object.keys(thinking.fields).length > 0 ? ['reasoning_effort'] : []),
      ],
      unreadable,
    ),
  }
}

const namesStop = { additionalModelResponseFieldPaths: ['/stop_sequence'] }

/** Settings there -> the fields of a chat that they come from. */
const chatNames: Readonly<Record<string, string>> = { topP: 'top_p', stopSequences: 'stop' }

function toInference(
  chat: ChatRequest,
  { maxTokens }: AdapterTarget,
  { family, isThinking }: { family: BedrockFamily; isThinking: boolean },
): JsonObject {
  const isFixed = !family.sampling || (isThinking && family.thinking !== 'three_levels')
  const temperature = isFixed ? undefined : (chat.temperature ?? undefined)
  // A Claude takes only one of the two.
  const isOne = family.claude && temperature !== undefined
  const topP = isFixed || isOne ? undefined : (chat.top_p ?? undefined)
  const stops = typeof chat.stop === 'string' ? [chat.stop] : (chat.stop ?? [])
  const stopSequences = stops.filter((stop) => stop.trim() !== '')
  return {
    ...(maxTokens !== undefined && { maxTokens }),
    // OpenAI goes to 2, all of these to 1.
    ...(temperature !== undefined && { temperature: Math.min(temperature, 1) }),
    ...(topP !== undefined && { topP }),
    ...(stopSequences.length > 0 && { stopSequences }),
  }
}

const jsonFormatOf = ({ response_format: format }: ChatRequest) =>
  format?.type === 'json_schema' ? format.json_schema : undefined
type RequestedFormat = ReturnType<typeof jsonFormatOf>

/** Turns a schema that the model does not support natively into a tool that it must call. */
function withSchema(toolUse: ToolUse, jsonFormat: RequestedFormat, family: BedrockFamily): ToolUse {
  if (!jsonFormat || family.schema === 'native') return toolUse
  const schema = jsonFormat.schema ?? {}
  if ((schema['type'] ?? 'object') !== 'object') {
    const message = 'This model requires an object at the root of the schema.'
    throw unsupported('response_format.json_schema.schema', message)
  }
  const tool = toAnswerTool(schema)
  if (toolUse.choice === 'none') return { tools: [tool], choice: { name: answerTool } }
  // A call that is demanded comes first; the answer is for the next turn.
  if (toolUse.choice !== 'auto') return toolUse
  return { tools: [...toolUse.tools, tool], choice: 'required' }
}

function toOutputConfig(
  jsonFormat: RequestedFormat,
  { claude, schema }: BedrockFamily,
  { capabilities }: AdapterTarget,
): JsonObject {
  if (!jsonFormat || schema !== 'native') return {}
  if (!claude && !capabilities.jsonSchema) {
    throw unsupported('response_format', 'This model does not support JSON schemas.')
  }
  const strictSchema = claude ? toStrictSchema(jsonFormat.schema ?? {}) : (jsonFormat.schema ?? {})
  const jsonSchema = { name: jsonFormat.name, schema: JSON.stringify(strictSchema) }
  return { outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } }
}

const onlyJson = 'Answer with one JSON object and nothing else.'

/** No model here has a JSON mode: an instruction requests it. */
function withInstruction(turns: readonly HistoryTurn[], chat: ChatRequest): readonly HistoryTurn[] {
  if (chat.response_format?.type !== 'json_object') return turns
  const part = { type: 'text' as const, text: onlyJson }
  return [...turns, { role: 'system', pieces: [{ part, param: 'response_format' }] }]
}

function toToolChoiceField(
  { choice }: ToolUse,
  { claude }: BedrockFamily,
  isThinking: boolean,
): JsonObject {
  // A Claude that thinks decides by itself, as on its own API; other models refuse fields that they do not
  // know.
  const canForce = !claude || (claude.forcedTool && !isThinking)
  return choice !== 'auto' && canForce ? { toolChoice: toToolChoice(choice) } : {}
}

const toToolChoice = (choice: ToolUse['choice']) =>
  typeof choice === 'object' ? { tool: choice } : { any: {} }

const toToolBlocks = (tool: FunctionTool, { cachePoints }: BedrockFamily) => [
  toToolSpec(tool),
  ...(cachePoints?.tools ? toCachePoints(tool.cacheControl, cachePoints) : []),
]

const toToolSpec = ({ name, description, parameters, strict }: FunctionTool) => ({
  toolSpec: {
    name,
    ...(description !== undefined && { description }),
    inputSchema: { json: parameters },
    ...(strict === true && { strict }),
  },
})
