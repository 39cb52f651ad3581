import type { FinishReason } from '../../wire/finish-reason'
import { findStopSequence } from '../../wire/stop-sequence'
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

/** Returns how an answer stopped; the sequence only where its provider says that it ended by one. */
export function toStop(
  { reason, matchedStop }: { reason?: FinishReason; matchedStop?: string | undefined },
  stopSequences: readonly string[],
) {
  const sequence = findStopSequence(matchedStop, stopSequences)
  return sequence === undefined
    ? { stop_reason: toStopReason(reason), stop_sequence: null }
    : { stop_reason: 'stop_sequence', stop_sequence: sequence }
}

function toStopReason(reason: FinishReason | undefined): string {
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

/** Whether an answer broke off, perhaps inside a call. */
export const isBrokenOff = (reason: FinishReason | undefined): boolean =>
  reason === 'length' || reason === 'content_filter'

/** The head of a message, without the fields that are known only at its end. */
export const messageHead = (id: string, model: unknown) => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  model,
})
