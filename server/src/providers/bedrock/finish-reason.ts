import type { FinishReason } from '../../wire/finish-reason'

/** @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_MessageStopEvent.html */
export function toFinishReason(word: string, hasCalls: boolean): FinishReason {
  switch (word) {
    case 'content_filtered':
    case 'guardrail_intervened':
      return 'content_filter'
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return hasCalls ? 'tool_calls' : 'length'
    default:
      // `end_turn`, `stop_sequence`, `tool_use`
      return hasCalls ? 'tool_calls' : 'stop'
  }
}
