import { readToolCacheControl, type CacheControl } from '../wire/cache-control'
import type { ChatRequest, ChatTool } from '../wire/chat-request'
import { isObject, type JsonObject, toObjects } from '../wire/json-body'

/** A tool that a model may call; `parameters` is a schema with an object at its root. */
export interface FunctionTool {
  name: string
  description: string | undefined
  parameters: JsonObject
  strict: boolean | undefined
  /** The breakpoint of a prompt cache behind it. */
  cacheControl?: CacheControl
}

/** The tools that the model may call, and the one that it must: `none` without tools too. */
export interface ToolUse {
  tools: FunctionTool[]
  choice: 'none' | 'auto' | 'required' | { name: string }
}

/** The tools of a request, and the choice among them. */
export function readToolUse({ tools: givenTools, tool_choice: choice }: ChatRequest): ToolUse {
  const tools = (givenTools ?? []).map(toTool)
  if (tools.length === 0) return { tools, choice: 'none' }
  if (choice === 'none' || choice === 'required') return { tools, choice }
  if (!isObject(choice)) return { tools, choice: 'auto' }
  if (choice.type === 'allowed_tools') return selectAllowed(tools, choice.allowed_tools)
  return { tools, choice: { name: choice.function.name } }
}

const nameIn = ({ function: calledFunction }: JsonObject): unknown =>
  isObject(calledFunction) && calledFunction['name']

/** No dialect but OpenAI's knows a choice among some: the others are not sent. */
function selectAllowed(
  tools: readonly FunctionTool[],
  { mode, tools: listed }: JsonObject,
): ToolUse {
  const allowed = new Set(toObjects(listed).map(nameIn))
  const allowedTools = tools.filter(({ name }) => allowed.has(name))
  if (allowedTools.length === 0) return { tools: allowedTools, choice: 'none' }
  return { tools: allowedTools, choice: mode === 'required' ? 'required' : 'auto' }
}

function toTool(tool: ChatTool): FunctionTool {
  const { name, description, parameters, strict } = tool.function
  const control = readToolCacheControl(tool)
  const { $schema: _schema, ...schema } = parameters ?? {}
  return {
    name,
    description: description || undefined,
    parameters: { properties: {}, ...schema, type: 'object' },
    strict: strict ?? undefined,
    ...(control && { cacheControl: control }),
  }
}
