import type { FinishReason } from '../../wire/finish-reason'
import { completionTokens, type Usage } from '../../wire/usage'

/** The counts of a message: what was cached stands beside the input. */
export const toMessageUsage = (usage: Usage | undefined) => ({
  input_tokens: (usage?.input ?? 0) + (usage?.audioInput ?? 0),
  cache_creation_input_tokens: usage?.cacheWrite ?? 0,
  cache_read_input_tokens: usage?.cachedInput ?? 0,
  output_tokens: usage ? completionTokens(usage) : 0,
})

/** Why an answer ended; what was stopped by a stop sequence cannot be told from the rest. */
export function toStopReason(reason: FinishReason | undefined): string {
  switch (reason) {
    case 'length':
      return 'max_tokens'
    case 'tool_calls':
    case 'function_call':
      return 'tool_use'
    case 'content_filter':
      return 'refusal'
    default:
      return 'end_turn'
  }
}

/** The head of a message, without what is known only at its end. */
export const messageHead = (id: string, model: unknown) => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  model,
})
