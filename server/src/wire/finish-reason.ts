export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call'

/** Words for an ordinary end; an empty one stands for an absent reason. */
const ended: ReadonlySet<string> = new Set([
  '',
  'stop',
  'stop_sequence',
  'stop_token',
  'eos',
  'eos_token',
  'end',
  'end_turn',
  'end_of_text',
  'complete',
  'completed',
  'finish',
  'finished',
  'done',
  'tool_call',
  'tool_calls',
  'tool_use',
  'function_call',
  'pause_turn',
  'compaction',
])

const filtered: ReadonlySet<string> = new Set([
  'content_filter',
  'content_filtered',
  'content-filter',
  'safety',
  'refusal',
  'sensitive',
  'guardrail_intervened',
])

/** The provider broke it off. */
const brokenReasons: ReadonlySet<string> = new Set([
  'error',
  'failed',
  'abort',
  'aborted',
  'cancel',
  'canceled',
  'cancelled',
  'timeout',
  'interrupted',
  'server_error',
  'network_error',
  // DeepSeek
  'insufficient_system_resource',
])

/**
 * A provider's word for why it stopped, in the words that clients know; undefined where it broke off.
 * Tool calls end in `tool_calls`. A word that is not known is `length`, as the answer may be
 * incomplete; whether its calls are decides `withCalls`. Source: contract 12.5.
 */
export function toFinishReason(
  providerReason: string,
  hasToolCalls: boolean,
): FinishReason | undefined {
  const reason = providerReason.toLowerCase()
  if (brokenReasons.has(reason)) return undefined
  if (filtered.has(reason)) return 'content_filter'
  if (!ended.has(reason)) return 'length'
  return hasToolCalls ? 'tool_calls' : 'stop'
}

/**
 * The finish reason of an answer with these calls: whole ones can be run, whatever ended the answer behind them, and
 * those that broke off cannot, whatever its provider says.
 */
export function withCalls(reason: FinishReason, calls: 'none' | 'whole' | 'cut'): FinishReason {
  if (reason === 'content_filter') return reason
  if (calls === 'none') return reason === 'tool_calls' ? 'stop' : reason
  return calls === 'whole' ? 'tool_calls' : 'length'
}
