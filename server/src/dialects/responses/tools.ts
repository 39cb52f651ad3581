import { isCallable, type ResponsesRequest, type Tool } from './request'
import { invalidRequest } from '../../errors'
import { isObject, type JsonObject } from '../../wire/json-body'
import { eventShape } from '../../wire/json-shape'
import { parseShaped } from '../../wire/json-slices'

/** What a custom tool is called with, as the arguments of the function that stands in for it. */
const freeText = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

export const toFreeArguments = (input: string) => JSON.stringify({ input })

/** The text that a model put into such arguments; as far as it came, where they broke off. */
export function freeTextIn(args: string): string {
  try {
    const read: unknown = parseShaped(args, eventShape)
    return isObject(read) && typeof read['input'] === 'string' ? read['input'] : args
  } catch {
    const [, begun] =
      /^\s*\{\s*"input"\s*:\s*"((?:[^"\\]|\\u[\da-fA-F]{4}|\\[^u])*)/.exec(args) ?? []
    return begun === undefined ? args : unescaped(begun, args)
  }
}

function unescaped(text: string, instead: string): string {
  try {
    return String(JSON.parse(`"${text}"`))
  } catch {
    // Line breaks that were not escaped, and whatever else models think of.
    return instead
  }
}

/** The tools of a request and the choice among them, as fields of a chat request. */
export function toChatTools({ tools: given, tool_choice: choice }: ResponsesRequest): JsonObject {
  const tools = given ?? []
  const callable = tools.filter(({ type }) => isCallable(type))
  if (callable.length < tools.length) refuseHosted(tools, choice)
  if (callable.length === 0) return {}
  return {
    tools: callable.map(toFunction),
    ...(choice && { tool_choice: toChoice(choice) }),
  }
}

const toFunction = (tool: Tool): JsonObject => {
  const { name, description, parameters, strict, type } = tool
  if (type === 'custom') {
    const described = [description, grammarOf(tool)].filter((text) => text).join('\n\n')
    return {
      type: 'function',
      function: { name, ...(described && { description: described }), parameters: freeText },
    }
  }
  return {
    type: 'function',
    function: {
      name,
      ...(description && { description }),
      ...(parameters && { parameters }),
      ...(typeof strict === 'boolean' && { strict }),
    },
  }
}

/** A grammar holds nobody here to it; a model that is told of it mostly follows. */
function grammarOf({ format }: Tool): string | undefined {
  if (format?.type !== 'grammar') return undefined
  const { syntax, definition } = format
  return `The input follows this ${String(syntax)} grammar:\n${String(definition)}`
}

type Choice = NonNullable<ResponsesRequest['tool_choice']>

const named = (name: unknown) => ({ type: 'function', function: { name } })

function toChoice(choice: Choice): unknown {
  if (typeof choice === 'string') return choice
  if (choice.type !== 'allowed_tools') return named(choice.name)
  const allowed = (choice.tools ?? []).filter(({ type }) => isCallable(type))
  const tools = allowed.map(({ name }) => named(name))
  return { type: 'allowed_tools', allowed_tools: { mode: choice.mode ?? 'auto', tools } }
}

/**
 * Tools that OpenAI would run, such as `web_search`, are left out where the model is free not to call
 * them and has others; else what the caller wants cannot be had. Source: wire.md 13.3.
 */
function refuseHosted(tools: readonly Tool[], choice: Choice | null | undefined): void {
  const at = tools.findIndex(({ type }) => !isCallable(type))
  const hasOthers = tools.some(({ type }) => isCallable(type))
  if (choice === 'none' || (hasOthers && isFree(choice))) return
  const type = tools[at]?.type ?? ''
  const message = `tools.${at}.type: "${type}" is not run here. Use function or custom tools.`
  throw invalidRequest(`tools.${at}.type`, 'unsupported_by_model', message)
}

/** Whether no tool but a caller's own has to be called. */
function isFree(choice: Choice | null | undefined): boolean {
  if (!choice || choice === 'auto') return true
  if (typeof choice === 'string') return false
  if (choice.type !== 'allowed_tools') return isCallable(choice.type)
  return choice.tools?.some(({ type }) => isCallable(type)) ?? false
}
