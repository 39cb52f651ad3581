import { isObject } from '../../api/client'
import { storedBody } from './curl'

/** The bodies of a request, where its reader may see them and they were stored. */
export interface StoredBodies {
  request_body?: string | null
  response_body?: string | null
}

const objectsIn = (value: unknown) => (Array.isArray(value) ? value.filter(isObject) : [])
const textIn = (value: unknown) => (typeof value === 'string' ? value : undefined)

/** Reads the text of a message: a text, or parts of which some are texts. */
const contentText = (content: unknown) =>
  textIn(content) ??
  (objectsIn(content)
    .flatMap(({ text }) => textIn(text) ?? [])
    .join('\n') ||
    undefined)

/** Returns the last message of the user in the format of any endpoint. */
export function promptOf(body: string | null | undefined): string | undefined {
  const request = storedBody(body)
  if (!request) return undefined
  const { messages, input, prompt } = request
  const last = objectsIn(messages ?? input).findLast(({ role }) => role === 'user')
  return contentText(last?.['content']) ?? textIn(input) ?? textIn(prompt)
}

const nameIn = (tool: Record<string, unknown>) =>
  textIn(isObject(tool['function']) ? tool['function']['name'] : tool['name'])

const callTypes: ReadonlySet<unknown> = new Set(['tool_use', 'function_call'])

/** Returns the tool calls of an answer, in the format of any endpoint. */
function callsIn({ choices, content, output }: Record<string, unknown>) {
  const messages = objectsIn(choices).map(({ message }) => message)
  return [
    ...messages.filter(isObject).flatMap(({ tool_calls: calls }) => objectsIn(calls)),
    ...[...objectsIn(content), ...objectsIn(output)].filter(({ type }) => callTypes.has(type)),
  ]
}

/** The names of tools, each once. */
export interface UsedTools {
  offered: readonly string[]
  called: readonly string[]
}

const namesOf = (tools: readonly Record<string, unknown>[]) => [
  ...new Set(tools.flatMap((tool) => nameIn(tool) ?? textIn(tool['type']) ?? [])),
]

/** Returns the tools that a request offered, and those that its answer called. */
export function toolsOf({
  request_body: request,
  response_body: response,
}: StoredBodies): UsedTools {
  return {
    offered: namesOf(objectsIn(storedBody(request)?.['tools'])),
    called: namesOf(callsIn(storedBody(response) ?? {})),
  }
}
