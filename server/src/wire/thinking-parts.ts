import { isObject, type JsonObject, toObjects, toText } from './json-body'

/**
 * Thoughts among the parts of an answer, as Mistral's models give and take them.
 * @see https://docs.mistral.ai/capabilities/reasoning
 */
const isThinking = (part: unknown): part is JsonObject =>
  isObject(part) && part['type'] === 'thinking'

/** Returns the part for a text. */
export const toThinkingPart = (text: string): JsonObject => ({
  type: 'thinking',
  thinking: [{ type: 'text', text }],
})

const readThinking = ({ thinking }: JsonObject): string =>
  typeof thinking === 'string'
    ? thinking
    : toObjects(thinking)
        .map(({ text }) => toText(text))
        .join('')

const hasThinking = (message: unknown): message is JsonObject & { content: unknown[] } =>
  isObject(message) &&
  message['role'] === 'assistant' &&
  Array.isArray(message['content']) &&
  message['content'].some(isThinking)

/**
 * Returns a chat request with the thoughts of its history in `reasoning_content`, the field that all providers'
 * thoughts travel in; the same object where none are among the parts of an answer.
 */
export function withThoughtFields(body: JsonObject): JsonObject {
  const { messages } = body
  if (!Array.isArray(messages) || !messages.some(hasThinking)) return body
  return { ...body, messages: messages.map(withThoughtField) }
}

/** Returns the same without the thoughts among the parts of its answers; undefined where it has none. */
export function withoutThinkingParts(body: JsonObject): JsonObject | undefined {
  const { messages } = body
  if (!Array.isArray(messages) || !messages.some(hasThinking)) return undefined
  const remaining = messages.map((message: unknown) => {
    if (!hasThinking(message)) return message
    const rest = message.content.filter((part) => !isThinking(part))
    return { ...message, content: rest.length > 0 ? rest : '' }
  })
  return { ...body, messages: remaining }
}

function withThoughtField(message: unknown): unknown {
  if (!hasThinking(message)) return message
  const { content, reasoning_content: reasoningContent } = message
  const rest = content.filter((part) => !isThinking(part))
  const thoughts = content.filter(isThinking).map(readThinking).join('')
  return {
    ...message,
    content: rest.length > 0 ? rest : null,
    reasoning_content: toText(reasoningContent) || thoughts,
  }
}
