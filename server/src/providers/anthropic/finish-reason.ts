import type { FinishReason } from '../../wire/finish-reason'

/** @see https://docs.claude.com/en/api/handling-stop-reasons */
export function toFinish(stopReason: string): FinishReason {
  switch (stopReason) {
    case 'end_turn':
    case 'stop_sequence':
    case 'pause_turn':
    case 'compaction':
      return 'stop'
    case 'tool_use':
      return 'tool_calls'
    case 'refusal':
      return 'content_filter'
    // max_tokens, model_context_window_exceeded, and what will be added: the answer may be incomplete
    default:
      return 'length'
  }
}
