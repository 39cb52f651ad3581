import { toFinishReason, type FinishReason } from '../../wire/finish-reason'

const filtered = new Set([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MODEL_ARMOR',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
  'LANGUAGE',
])
const failed = new Set([
  'MALFORMED_FUNCTION_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'MALFORMED_RESPONSE',
  'NO_IMAGE',
  'IMAGE_OTHER',
])

/**
 * Translates Gemini's finish reason; undefined where it failed. `STOP` alone is an ordinary end: `OTHER`
 * and unknown words may stand for a missing rest.
 * @see https://ai.google.dev/api/generate-content#FinishReason
 */
export function toGoogleFinishReason(
  reason: string,
  hasToolCalls: boolean,
): FinishReason | undefined {
  if (failed.has(reason)) return undefined
  if (filtered.has(reason)) return 'content_filter'
  // The model called a tool that it was not offered: the call is whole, and its caller decides.
  if (reason === 'UNEXPECTED_TOOL_CALL') return hasToolCalls ? 'tool_calls' : undefined
  return toFinishReason(reason === 'STOP' ? 'stop' : 'length', hasToolCalls)
}
