import type { AnthropicBlock } from './content'
import { anthropicThoughtFormat } from '../../wire/anthropic-format'
import type { JsonObject } from '../../wire/json-body'
import { joinDetails } from '../../wire/reasoning-details'

export const signedThought = (text: string, signature: string, index: number): JsonObject => ({
  type: 'reasoning.text',
  text,
  signature,
  format: anthropicThoughtFormat,
  index,
})

export const hiddenThought = (data: string, index: number): JsonObject => ({
  type: 'reasoning.encrypted',
  data,
  format: anthropicThoughtFormat,
  index,
})

/** Returns the thinking blocks of an assistant turn that are of this format and signed. */
export function toThinkingBlocks(details: unknown): AnthropicBlock[] {
  return joinDetails(details).flatMap((detail): AnthropicBlock[] => {
    if (detail['format'] !== anthropicThoughtFormat) return []
    const { type, text, signature, data } = detail
    if (type === 'reasoning.encrypted' && typeof data === 'string') {
      return [{ type: 'redacted_thinking', data }]
    }
    if (type !== 'reasoning.text' || typeof signature !== 'string' || signature === '') return []
    return [{ type: 'thinking', thinking: typeof text === 'string' ? text : '', signature }]
  })
}
