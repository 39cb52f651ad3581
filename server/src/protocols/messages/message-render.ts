import type { FinishReason } from '../../wire/finish-reason'
import { completionTokens, noUsage, type Usage } from '../../wire/usage'

/** The counts of a message: cached tokens stand beside the input. */
export const toMessageUsage = (usage: Usage = noUsage) => ({
  input_tokens: usage.input + usage.audioInput + usage.imageInput,
  cache_creation_input_tokens: usage.cacheWrite + usage.cacheWriteLong,
  cache_read_input_tokens: usage.cachedInput,
  // Only where not all of it has the usual lifetime of five minutes.
  ...(usage.cacheWriteLong > 0 && {
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWrite,
      ephemeral_1h_input_tokens: usage.cacheWriteLong,
    },
  }),
  output_tokens: completionTokens(usage),
})

/** Returns the stop reason of an answer; an end by a stop sequence cannot be distinguished from the rest. */
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

/** The head of a message, without the fields that are known only at its end. */
export const messageHead = (id: string, model: unknown) => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  model,
})
