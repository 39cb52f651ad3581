import { ChatRequest } from './chat-request'
import { withFunctionTools } from './custom-tools'
import { check, type JsonObject } from './json-body'
import { toToolMessages, toTools } from './legacy-functions'
import { withUniqueCalls } from './unique-calls'
import { toPlainMedia } from './plain-media'
import { readReasoning } from './reasoning-field'

/**
 * A chat request in the one form that adapters read: tools instead of `functions`, in the history
 * too, functions instead of custom tools, no id of a call twice, `reasoning_effort` instead of `reasoning`,
 * media by what they are, no choice among tools that are absent. Throws `invalid_request`.
 */
export function toPlainChat(body: JsonObject): ChatRequest {
  const chat = toTools(withFunctionTools(body))
  delete chat['functions']
  delete chat['function_call']
  const { messages, tools } = chat
  if (Array.isArray(messages)) {
    chat['messages'] = withUniqueCalls(toPlainMedia(toToolMessages(messages)))
  }
  if (chat['reasoning'] !== undefined) {
    chat['reasoning_effort'] = readReasoning(chat).effort
    delete chat['reasoning']
  }
  if (!Array.isArray(tools) || tools.length === 0) {
    for (const name of ['tools', 'tool_choice', 'parallel_tool_calls']) delete chat[name]
  }
  // The bounds on numbers of elements were checked where the request arrived.
  return check(ChatRequest, chat)
}
