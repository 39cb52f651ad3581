import type { ClaudeFamily } from './families'
import { toStrictSchema } from './schema'
import { readToolCacheControl } from '../../wire/cache-control'
import type { ChatRequest, ChatTool } from '../../wire/chat-request'
import { isObject, type JsonObject, toObjects } from '../../wire/json-body'

/** The fields `tools` and `tool_choice`. */
export interface ToolFields {
  tools?: JsonObject[]
  tool_choice?: JsonObject
}

/** A forced tool is refused by the model, or beside thinking; then the model chooses. */
interface Limits {
  family: ClaudeFamily
  isThinking: boolean
}

/** The tools of a request, and which of them may be called. */
export function toTools(chat: ChatRequest, { family, isThinking }: Limits): ToolFields {
  const { tools, tool_choice: choice, parallel_tool_calls: isParallel } = chat
  if (!tools?.length) return toolsOfHistory(chat)
  const allowed = readAllowedNames(choice)
  const offered = allowed ? tools.filter((tool) => allowed.has(tool.function.name)) : tools
  const toolChoice = toToolChoice(choice)
  const isForced = toolChoice['type'] === 'any' || toolChoice['type'] === 'tool'
  const mayForce = family.forcedTool && !isThinking
  const toolChoiceField: JsonObject = isForced && !mayForce ? { type: 'auto' } : toolChoice
  if (isParallel === false && toolChoiceField['type'] !== 'none')
    toolChoiceField['disable_parallel_tool_use'] = true
  return {
    tools: offered.map((tool) => toTool(tool, family)),
    // `auto` is the default.
    ...((toolChoiceField['type'] !== 'auto' || isParallel === false) && {
      tool_choice: toolChoiceField,
    }),
  }
}

function toTool(tool: ChatTool, family: ClaudeFamily): JsonObject {
  const { name, description, parameters, strict } = tool.function
  const control = readToolCacheControl(tool)
  const isStrict = strict === true && family.jsonSchema
  const { $schema: _schema, ...schema } = parameters ?? {}
  const input_schema = { properties: {}, ...schema, type: 'object' }
  return {
    name,
    ...(description && { description }),
    input_schema: isStrict ? toStrictSchema(input_schema) : input_schema,
    ...(isStrict && { strict: true }),
    ...(control && { cache_control: control }),
  }
}

function toToolChoice(choice: ChatRequest['tool_choice']): JsonObject {
  if (choice === 'none') return { type: 'none' }
  if (choice === 'required') return { type: 'any' }
  if (!isObject(choice)) return { type: 'auto' }
  if (choice.type === 'function') return { type: 'tool', name: choice.function.name }
  return { type: choice.allowed_tools['mode'] === 'required' ? 'any' : 'auto' }
}

/** The names that `allowed_tools` leaves over. */
function readAllowedNames(choice: ChatRequest['tool_choice']): Set<unknown> | undefined {
  if (!isObject(choice) || choice.type !== 'allowed_tools') return undefined
  const { tools } = choice.allowed_tools
  const namedTools = toObjects(tools)
  return new Set(namedTools.map((tool) => isObject(tool['function']) && tool['function']['name']))
}

/** Calls in the history need their tools beside them, also where none may be called any more. */
function toolsOfHistory({ messages }: ChatRequest): ToolFields {
  const calls = messages.flatMap(({ tool_calls: toolCalls }) => toolCalls ?? [])
  const names = new Set(calls.map(({ function: calledFunction }) => calledFunction.name))
  if (names.size === 0) return {}
  const input_schema = { properties: {}, type: 'object' }
  return {
    tools: [...names].map((name) => ({ name, input_schema })),
    tool_choice: { type: 'none' },
  }
}
