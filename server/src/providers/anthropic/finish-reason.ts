import type { FinishReason } from '../../wire/finish-reason'

/** @see https://docs.claude.com/en/api/handling-stop-reasons */
export function toFinish(stopReason: string): FinishReason {
  switch (stopReason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length'
    case 'tool_use':
      return 'tool_calls'
    case 'refusal':
      return 'content_filter'
    // end_turn, stop_sequence, pause_turn, and what will be added
    default:
      return 'stop'
  }
}
