import type { AnthropicBlock } from './content'
import { isObject, type JsonObject } from '../../wire/json-body'

/**
 * Thinking as it travels through clients: blocks with their signatures, in the field and the form that
 * OpenRouter gave them. The format names their vendor: no other accepts the signatures.
 * @see https://openrouter.ai/docs/use-cases/reasoning-tokens
 */
const format = 'anthropic-claude-v1'

export const signedThought = (text: string, signature: string, index: number): JsonObject => ({
  type: 'reasoning.text',
  text,
  signature,
  format,
  index,
})

export const hiddenThought = (data: string, index: number): JsonObject => ({
  type: 'reasoning.encrypted',
  data,
  format,
  index,
})

/** Returns the thinking blocks of an assistant turn that are of this format and signed. */
export function toThinkingBlocks(details: unknown): AnthropicBlock[] {
  return (Array.isArray(details) ? details.filter(isObject) : []).flatMap(
    (detail): AnthropicBlock[] => {
      if (detail['format'] !== format) return []
      const { type, text, signature, data } = detail
      if (type === 'reasoning.encrypted' && typeof data === 'string') {
        return [{ type: 'redacted_thinking', data }]
      }
      if (type !== 'reasoning.text' || typeof signature !== 'string' || signature === '') return []
      return [{ type: 'thinking', thinking: typeof text === 'string' ? text : '', signature }]
    },
  )
}
