import type { JsonObject } from '../../wire/json-body'

/**
 * Thoughts as they travel through clients: encrypted, in the field and the form that OpenRouter gave them.
 * The format names their vendor: no other can read them.
 */
export const thoughtFormat = 'openai-responses-v1'

export const encryptedThought = (
  { id, data }: { id: string | undefined; data: string },
  index: number,
): JsonObject => ({
  type: 'reasoning.encrypted',
  data,
  // Longer ones are refused when they come back.
  ...(id !== undefined && id.length <= 64 && { id }),
  format: thoughtFormat,
  index,
})
