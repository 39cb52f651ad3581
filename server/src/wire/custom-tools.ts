import { invalidRequest } from '../errors'
import { isObject, type JsonObject, toList } from './json-body'
import { eventShape } from './json-shape'
import { parseShaped } from './json-slices'

/*
 * Custom tools take one free text instead of arguments. For a model that knows functions only, a function
 * with that text as its one argument, `input`, stands for each.
 */

/** The parameters of a function that stands for a custom tool. */
export const customParameters: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

/** The format of a custom tool's text in words: only OpenAI holds its models to it. */
export const grammarText = (syntax: unknown, definition: unknown): string =>
  `The input follows this ${String(syntax)} grammar:\n${String(definition)}`

/** The arguments of a call of such a function. */
export const toCustomArguments = (input: string): string => JSON.stringify({ input })

/** The text in the arguments of such a call; as far as it came, where they broke off. */
export function customInputIn(args: string): string {
  try {
    const read: unknown = parseShaped(args, eventShape)
    return isObject(read) && typeof read['input'] === 'string' ? read['input'] : args
  } catch {
    const [, begun] =
      /^\s*\{\s*"input"\s*:\s*"((?:[^"\\]|\\u[\da-fA-F]{4}|\\[^u])*)/.exec(args) ?? []
    return begun === undefined ? args : unescape(begun, args)
  }
}

function unescape(text: string, instead: string): string {
  try {
    return String(JSON.parse(`"${text}"`))
  } catch {
    // Line breaks that were not escaped, and other malformed JSON of models.
    return instead
  }
}

/** The tool, call or choice in a chat request, if it is of type `custom`. */
function readCustomTool(holder: unknown): JsonObject | undefined {
  if (!isObject(holder) || holder['type'] !== 'custom') return undefined
  return isObject(holder['custom']) ? holder['custom'] : undefined
}

/** The custom tools that a chat request offers, by name; undefined where it offers none. */
export function customToolsOf({ tools }: JsonObject): ReadonlyMap<string, JsonObject> | undefined {
  let foundTools: Map<string, JsonObject> | undefined
  for (const tool of toList(tools)) {
    const custom = readCustomTool(tool)
    if (custom) (foundTools ??= new Map()).set(String(custom['name']), custom)
  }
  return foundTools
}

/**
 * A chat request with functions in place of its custom tools, also where they are chosen and in the history; the
 * same object where there are none. Throws `invalid_request` where a function has the name of a custom tool.
 */
export function withFunctionTools(chat: JsonObject): JsonObject {
  const { tools, tool_choice: choice, messages } = chat
  const changes: JsonObject = {}
  if (customToolsOf(chat)) {
    refuseDuplicates(toList(tools))
    changes['tools'] = toList(tools).map(toFunctionTool)
  }
  if (isObject(choice) && choosesCustom(choice)) changes['tool_choice'] = toFunctionChoice(choice)
  if (toList(messages).some(callsCustom)) {
    changes['messages'] = toList(messages).map(withFunctionCalls)
  }
  return Object.keys(changes).length > 0 ? { ...chat, ...changes } : chat
}

/** A call comes back by its name alone. */
function refuseDuplicates(tools: readonly unknown[]): void {
  const functions = new Set<unknown>()
  for (const tool of tools) {
    if (isObject(tool) && isObject(tool['function'])) functions.add(tool['function']['name'])
  }
  for (const [index, tool] of tools.entries()) {
    const custom = readCustomTool(tool)
    if (!custom || !functions.has(custom['name'])) continue
    const field = `tools.${index}.custom.name`
    throw invalidRequest(field, 'duplicate', `${field}: a function has this name, too.`)
  }
}

function toFunctionTool(tool: unknown): unknown {
  const custom = readCustomTool(tool)
  if (!custom || !isObject(tool)) return tool
  const { type: _type, custom: _custom, ...beside } = tool
  const { name, description, format } = custom
  const words = [description, formatText(format)].filter((text) => typeof text === 'string' && text)
  const definition = {
    name,
    ...(words.length > 0 && { description: words.join('\n\n') }),
    parameters: customParameters,
  }
  return { type: 'function', function: definition, ...beside }
}

function formatText(format: unknown): string {
  if (!isObject(format) || format['type'] !== 'grammar' || !isObject(format['grammar'])) return ''
  const { syntax, definition } = format['grammar']
  return grammarText(syntax, definition)
}

const readAllowedTools = ({ allowed_tools: allowed }: JsonObject): readonly unknown[] =>
  isObject(allowed) ? toList(allowed['tools']) : []

const choosesCustom = (choice: JsonObject): boolean =>
  readCustomTool(choice) !== undefined || readAllowedTools(choice).some(readCustomTool)

function toFunctionChoice(choice: JsonObject): JsonObject {
  const { allowed_tools: allowed } = choice
  if (!isObject(allowed)) return toNamed(choice)
  const tools = readAllowedTools(choice).map((tool) => (isObject(tool) ? toNamed(tool) : tool))
  return { ...choice, allowed_tools: { ...allowed, tools } }
}

function toNamed(choice: JsonObject): JsonObject {
  const custom = readCustomTool(choice)
  return custom ? { type: 'function', function: { name: custom['name'] } } : choice
}

const callsOf = (message: unknown): readonly unknown[] =>
  isObject(message) ? toList(message['tool_calls']) : []

const callsCustom = (message: unknown): boolean => callsOf(message).some(readCustomTool)

function withFunctionCalls(message: unknown): unknown {
  if (!isObject(message) || !callsCustom(message)) return message
  return { ...message, tool_calls: callsOf(message).map(toFunctionCall) }
}

function toFunctionCall(call: unknown): unknown {
  const custom = readCustomTool(call)
  if (!custom || !isObject(call)) return call
  const { custom: _custom, ...rest } = call
  const { name, input } = custom
  return {
    ...rest,
    type: 'function',
    function: { name, arguments: toCustomArguments(String(input)) },
  }
}
