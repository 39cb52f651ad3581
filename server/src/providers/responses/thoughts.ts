import type { JsonObject } from '../../wire/json-body'
import { openAiThoughtFormat } from '../../wire/reasoning-details'

/** A thought as it travels through clients: encrypted, in the form that OpenRouter gave it. */
export const encryptedThought = (
  { id, data }: { id: string | undefined; data: string },
  index: number,
): JsonObject => ({
  type: 'reasoning.encrypted',
  data,
  // Longer ones are refused when they come back.
  ...(id !== undefined && id.length <= 64 && { id }),
  format: openAiThoughtFormat,
  index,
})
