import { parseGeneration } from './model-name'
import { withoutConst } from './schema'
import { invalidRequest } from '../../errors'
import type { ChatRequest } from '../../wire/chat-request'
import { isObject, type JsonObject } from '../../wire/json-body'

type Tool = NonNullable<ChatRequest['tools']>[number]

/** The tools of a request and the choice among them, in the terms of Google. */
interface Wish {
  tools: readonly Tool[]
  mode: 'AUTO' | 'NONE' | 'ANY' | 'VALIDATED'
  names?: string[]
}

/** The tools and the form of the answer, which exclude each other in some ways. */
export interface Shape {
  tools?: JsonObject[]
  toolConfig?: JsonObject
  /** The fields of `generationConfig`. */
  format: JsonObject
}

/**
 * Tools, the choice among them, and JSON answers. Throws `unsupported_by_model` where a model takes
 * either tools or a JSON answer and the caller leaves it free to give one or the other.
 */
export function toShape(chat: ChatRequest, model: string): Shape {
  const format = toFormat(chat.response_format)
  const wish = toWish(chat)
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
      'This model answers in JSON or calls tools, not both in one request.',
    )
  }
  return { ...declared({ ...wish, mode: 'AUTO' }), format }
}

function toWish({ tools, tool_choice: choice }: ChatRequest): Wish | undefined {
  if (!tools?.length) return undefined
  const free: Wish['mode'] = tools.some((tool) => tool.function.strict) ? 'VALIDATED' : 'AUTO'
  if (!choice || choice === 'auto') return { tools, mode: free }
  if (choice === 'none') return { tools, mode: 'NONE' }
  if (choice === 'required') return { tools, mode: 'ANY' }
  if (choice.type === 'function') return { tools, mode: 'ANY', names: [choice.function.name] }
  const allowed = allowedNames(choice.allowed_tools)
  // Names can be given with ANY only; a tool that is not declared cannot be called either.
  const rest = tools.filter((tool) => allowed.has(tool.function.name))
  if (rest.length === 0) {
    throw invalidRequest('tool_choice.allowed_tools', 'unknown_value', 'No such tool was sent.')
  }
  const mode = choice.allowed_tools['mode'] === 'required' ? 'ANY' : free
  return { tools: rest, mode }
}

function allowedNames({ tools }: JsonObject): Set<unknown> {
  const entries = Array.isArray(tools) ? tools.filter(isObject) : []
  return new Set(entries.map((tool) => isObject(tool['function']) && tool['function']['name']))
}

const declared = ({ tools, mode, names }: Wish) => ({
  tools: [{ functionDeclarations: tools.map(toDeclaration) }],
  toolConfig: {
    functionCallingConfig: names ? { mode, allowedFunctionNames: names } : { mode },
  },
})

function toDeclaration({ function: { name, description, parameters } }: Tool): JsonObject {
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
