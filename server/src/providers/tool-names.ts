import { createHash } from 'node:crypto'
import { isObject, type JsonObject, toList } from '../wire/json-body'
import { toToolMessages, toTools, usesFunctions } from '../wire/legacy-functions'

/** The pattern that OpenAI accepts as the name of a tool, and so does nearly every other provider. */
const usualNames = /^[a-zA-Z0-9_-]{1,64}$/

const maxLength = 64
const digestLength = 12

/** A chat request whose tools have names that its provider takes. */
export interface NamedChat {
  chat: JsonObject
  /** Name at the provider -> name that the caller gave; undefined where no tool got another name. */
  callerNames: ReadonlyMap<string, string> | undefined
}

/**
 * Replaces names of tools that a provider would refuse: a name gets the same replacement in each request,
 * so that histories and prompt caches hold, and different names get different ones. The model's calls by
 * these names go back under the names of the caller.
 */
export function withAcceptedToolNames(chat: JsonObject, accepted = usualNames): NamedChat {
  return hasTools(chat) ? renameTools(chat, accepted) : { chat, callerNames: undefined }
}

function renameTools(chat: JsonObject, accepted: RegExp): NamedChat {
  const names = new Set<string>()
  let needsOthers = false
  visitNames(chat, (name) => {
    names.add(name)
    needsOthers ||= !accepted.test(name)
    return name
  })
  if (!needsOthers) return { chat, callerNames: undefined }
  const renamed = new Map<string, string>()
  const callerNames = new Map<string, string>()
  for (const name of names) {
    if (accepted.test(name)) continue
    const other = acceptedName(
      name,
      (candidateName) => names.has(candidateName) || callerNames.has(candidateName),
    )
    renamed.set(name, other)
    callerNames.set(other, name)
  }
  return { chat: rename(chat, (name) => renamed.get(name) ?? name), callerNames }
}

/** Returns whether a request may name tools, as most do not. */
function hasTools({
  tools,
  functions,
  tool_choice: choice,
  function_call: call,
  messages,
}: JsonObject) {
  if (tools || functions || choice || call) return true
  for (const message of toList(messages)) {
    if (isObject(message) && (message['tool_calls'] || message['function_call'])) return true
  }
  return false
}

/** Returns as much of a name as fits, and a digest of all of it. */
function acceptedName(name: string, isTaken: (name: string) => boolean): string {
  const safe = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, maxLength - digestLength - 1)
  // A name that begins with a digit is refused by some.
  const stem = /^[a-zA-Z_]/.test(safe) ? safe : `_${safe.slice(0, -1)}`
  for (let attempt = 0; ; attempt++) {
    const salted = attempt === 0 ? name : `${attempt} ${name}`
    const digest = createHash('sha256').update(salted).digest('hex').slice(0, digestLength)
    const candidate = `${stem}_${digest}`
    if (!isTaken(candidate)) return candidate
  }
}

type Rename = (name: string) => string

/** Calls `visit` with the names of all tools in a request: offered, chosen, and called in its history. */
function visitNames(chat: JsonObject, visit: Rename): void {
  const { tools, functions, tool_choice: choice, function_call: call, messages } = chat
  for (const tool of toList(tools)) visitTool(tool, visit)
  for (const definition of toList(functions)) visitName(definition, visit)
  visitTool(choice, visit)
  visitName(call, visit)
  for (const message of toList(messages)) {
    if (!isObject(message)) continue
    visitName(message['function_call'], visit)
    for (const toolCall of toList(message['tool_calls'])) visitTool(toolCall, visit)
  }
}

function visitTool(tool: unknown, visit: Rename): void {
  if (isObject(tool)) visitName(tool['function'] ?? tool['custom'], visit)
}

function visitName(holder: unknown, visit: Rename): void {
  if (isObject(holder) && typeof holder['name'] === 'string') visit(holder['name'])
}

/** A copy under other names, in today's form of tools. */
function rename(request: JsonObject, to: Rename): JsonObject {
  const chat = usesFunctions(request) ? toTools(request) : { ...request }
  const { tools, tool_choice: choice, messages } = chat
  if (Array.isArray(tools)) chat['tools'] = tools.map((tool) => renameTool(tool, to))
  if (isObject(choice)) chat['tool_choice'] = renameChoice(choice, to)
  if (Array.isArray(messages)) {
    chat['messages'] = toToolMessages(messages).map((message) => renameCalls(message, to))
  }
  return chat
}

/** A tool, a call or a choice of one. */
function renameTool(holder: unknown, to: Rename): unknown {
  if (!isObject(holder)) return holder
  const kind = isObject(holder['function']) ? 'function' : 'custom'
  const namedTool = holder[kind]
  if (!isObject(namedTool) || typeof namedTool['name'] !== 'string') return holder
  return { ...holder, [kind]: { ...namedTool, name: to(namedTool['name']) } }
}

function renameChoice(choice: JsonObject, to: Rename): unknown {
  const { allowed_tools: allowed } = choice
  if (!isObject(allowed) || !Array.isArray(allowed['tools'])) return renameTool(choice, to)
  const tools = allowed['tools'].map((tool) => renameTool(tool, to))
  return { ...choice, allowed_tools: { ...allowed, tools } }
}

function renameCalls(message: unknown, to: Rename): unknown {
  if (!isObject(message) || !Array.isArray(message['tool_calls'])) return message
  const calls = message['tool_calls'].map((call) => renameTool(call, to))
  return { ...message, tool_calls: calls }
}
