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
 * incomplete. Source: contract 12.5.
 */
export function toFinishReason(
  providerReason: string,
  hasToolCalls: boolean,
): FinishReason | undefined {
  const reason = providerReason.toLowerCase()
  if (brokenReasons.has(reason)) return undefined
  if (filtered.has(reason)) return 'content_filter'
  if (hasToolCalls) return 'tool_calls'
  return ended.has(reason) ? 'stop' : 'length'
}
