export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call'

/**
 * A provider's word for why it stopped, in the words that clients know; undefined for its word for
 * failure. Tool calls always end in `tool_calls`. Source: wire.md R13.
 */
export function toFinishReason(word: string, hasToolCalls: boolean): FinishReason | undefined {
  switch (word.toLowerCase()) {
    case 'error':
    case 'failed':
      return undefined
    case 'length':
    case 'max_tokens':
    case 'max_output_tokens':
    case 'model_length':
      return hasToolCalls ? 'tool_calls' : 'length'
    case 'content_filter':
    case 'safety':
    case 'refusal':
      return 'content_filter'
    default:
      return hasToolCalls ? 'tool_calls' : 'stop'
  }
}
