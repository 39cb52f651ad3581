/**
 * Marks thoughts that carry a signature of Anthropic's, in the fields that OpenRouter gave them: only Anthropic's
 * models accept the signature.
 * @see https://openrouter.ai/docs/use-cases/reasoning-tokens
 */
export const anthropicThoughtFormat = 'anthropic-claude-v1'

/** The pattern that Anthropic accepts as the id of a tool call; its clients check it too. */
export const anthropicCallIds = /^[a-zA-Z0-9_-]+$/
