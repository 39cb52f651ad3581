import { isObject, type JsonObject } from './json-body'

/** Whether a chat request uses `functions`, the older form of tools, and no tools. */
export const usesFunctions = (chat: JsonObject) =>
  Array.isArray(chat['functions']) &&
  chat['functions'].length > 0 &&
  !(Array.isArray(chat['tools']) && chat['tools'].length > 0)

/** A chat request with `functions` in today's form. The answer goes back in the older one. */
export function toTools(chat: JsonObject): JsonObject {
  const { functions, function_call: choice, ...rest } = chat
  if (!usesFunctions(chat)) return rest
  const tools = Array.isArray(functions) ? functions : []
  return {
    ...rest,
    tools: tools.map((definition) => ({ type: 'function', function: definition })),
    ...(choice !== undefined &&
      choice !== null && {
        tool_choice: isObject(choice) ? { type: 'function', function: choice } : choice,
      }),
  }
}

const isOfFunctions = (message: unknown) =>
  isObject(message) && (message['role'] === 'function' || isObject(message['function_call']))

/**
 * The history of such a request: calls get ids, so that their results can name them. The same array
 * where it holds nothing of the kind.
 */
export function toToolMessages(messages: unknown[]): unknown[] {
  if (!messages.some(isOfFunctions)) return messages
  let calls = 0
  return messages.map((message) => {
    if (!isObject(message)) return message
    if (message['role'] === 'function') {
      const { name: _name, ...rest } = message
      return { ...rest, role: 'tool', tool_call_id: `call_${calls}` }
    }
    if (!isObject(message['function_call'])) return message
    const { function_call: calledFunction, ...rest } = message
    calls += 1
    return {
      ...rest,
      tool_calls: [{ id: `call_${calls}`, type: 'function', function: calledFunction }],
    }
  })
}
