import { dialect } from './responses-dialect'
import { identity } from './responses-events'
import { ChatRequest } from '../../src/wire/chat-request'
import { check, isObject, type JsonObject } from '../../src/wire/json-body'

/** A request that can be translated. */
export function read(request: JsonObject) {
  const translation = dialect.read({ model: 'sandbox/echo', input: 'Hi.', ...request })
  if (translation.refusal) throw translation.refusal
  check(ChatRequest, translation.chat)
  return translation
}

const listOf = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : []

/** The functions of the chat request that stands in for a request. */
export const functionsOf = (request: JsonObject): JsonObject[] =>
  listOf(read(request).chat['tools']).map(({ function: called }) =>
    isObject(called) ? called : {},
  )

export const namesOf = (request: JsonObject): string[] =>
  functionsOf(request).map(({ name }) => String(name))

/** The output of an answer that calls these functions. */
export function answered(
  request: JsonObject,
  ...calls: readonly [name: string, args: string][]
): JsonObject[] {
  const message = {
    role: 'assistant',
    content: null,
    tool_calls: calls.map(([name, args], index) => ({
      id: `call_${index}`,
      type: 'function',
      function: { name, arguments: args },
    })),
  }
  const completion = { ...identity, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
  const { output }: { output?: unknown } = read(request).answer(completion)
  return listOf(output)
}

export const look = { type: 'function', name: 'look', parameters: { type: 'object' } }

export const namespace = (name: string, ...tools: JsonObject[]) => ({
  type: 'namespace',
  name,
  description: 'A server.',
  tools,
})
