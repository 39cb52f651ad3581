import { parseGeneration } from './model-name'
import { withoutConst } from './schema'
import { invalidRequest } from '../../errors'
import type { ChatRequest, ChatTool } from '../../wire/chat-request'
import { isObject, type JsonObject, toObjects } from '../../wire/json-body'

/** The tools of a request and the choice among them, in the terms of Google. */
interface ToolSelection {
  tools: readonly ChatTool[]
  mode: 'AUTO' | 'NONE' | 'ANY' | 'VALIDATED'
  names?: string[]
}

/** The tools and the form of the answer, which exclude each other in some ways. */
export interface ToolsAndFormat {
  tools?: JsonObject[]
  toolConfig?: JsonObject
  /** The fields of `generationConfig`. */
  format: JsonObject
}

/**
 * Tools, the choice among them, and JSON answers. Throws `unsupported_by_model` where a model takes
 * either tools or a JSON answer and the caller leaves it free to give one or the other.
 */
export function toShape(chat: ChatRequest, model: string): ToolsAndFormat {
  const format = toFormat(chat.response_format)
  const wish = toToolSelection(chat)
  if (!wish) return { format }
  const wantsJson = Object.keys(format).length > 0
  if (!wantsJson) return { ...declared(wish), format }
  // A model that must call a tool gives no other answer, and one that may not, needs none.
  if (wish.mode === 'ANY') return { ...declared(wish), format: {} }
  if (wish.mode === 'NONE') return { format }
  if (parseGeneration(model) < 3) {
    throw invalidRequest(
      'response_format',
      'unsupported_by_model',
      'This model does not support JSON output and tools in one request.',
    )
  }
  return { ...declared({ ...wish, mode: 'AUTO' }), format }
}

function toToolSelection({ tools, tool_choice: choice }: ChatRequest): ToolSelection | undefined {
  if (!tools?.length) return undefined
  const free: ToolSelection['mode'] = tools.some((tool) => tool.function.strict)
    ? 'VALIDATED'
    : 'AUTO'
  if (!choice || choice === 'auto') return { tools, mode: free }
  if (choice === 'none') return { tools, mode: 'NONE' }
  if (choice === 'required') return { tools, mode: 'ANY' }
  if (choice.type === 'function') return { tools, mode: 'ANY', names: [choice.function.name] }
  const allowed = allowedNames(choice.allowed_tools)
  // Names can be given with ANY only; a tool that is not declared cannot be called either.
  const rest = tools.filter((tool) => allowed.has(tool.function.name))
  if (rest.length === 0) {
    throw invalidRequest('tool_choice.allowed_tools', 'unknown_value', 'The tool is not in tools.')
  }
  const mode = choice.allowed_tools['mode'] === 'required' ? 'ANY' : free
  return { tools: rest, mode }
}

function allowedNames({ tools }: JsonObject): Set<unknown> {
  const entries = toObjects(tools)
  return new Set(entries.map((tool) => isObject(tool['function']) && tool['function']['name']))
}

const declared = ({ tools, mode, names }: ToolSelection) => ({
  tools: [{ functionDeclarations: tools.map(toDeclaration) }],
  toolConfig: {
    functionCallingConfig: names ? { mode, allowedFunctionNames: names } : { mode },
  },
})

function toDeclaration({ function: { name, description, parameters } }: ChatTool): JsonObject {
  const isEmpty = !parameters || Object.keys(parameters).length === 0
  return {
    name,
    ...(description && { description }),
    // `parameters` would take a subset of JSON schema and refuse the rest: contract 12.8.
    ...(!isEmpty && { parametersJsonSchema: parameters }),
  }
}

function toFormat(format: ChatRequest['response_format']): JsonObject {
  if (!format || format.type === 'text') return {}
  const schema = format.type === 'json_schema' ? format.json_schema.schema : undefined
  return {
    responseMimeType: 'application/json',
    ...(schema && { responseJsonSchema: withoutConst(schema) }),
  }
}
