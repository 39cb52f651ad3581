import type { BedrockFamily } from './families'
import { toClaudeThinking } from '../anthropic/thinking'
import type { HistoryTurn } from '../conversation'
import { anthropicThoughtFormat } from '../../wire/anthropic-format'
import type { ChatRequest, ReasoningEffort } from '../../wire/chat-request'
import type { JsonObject } from '../../wire/json-body'
import { isSigned } from '../../wire/reasoning-details'

/** The fields that make a model think, and whether it will. */
export interface ConverseThinking {
  isOn: boolean
  fields: JsonObject
}

interface Limits {
  /** Claude thinks inside the output limit, and the hold pays for no more. */
  maxTokens: number | undefined
  /** A Claude's calls came back without the thinking that led to them. */
  lostThoughts: boolean
}

/** `reasoning_effort` in the words of a family, as `additionalModelRequestFields`. */
export function toThinking(
  effort: ChatRequest['reasoning_effort'],
  { claude, thinking }: BedrockFamily,
  { maxTokens, lostThoughts }: Limits,
): ConverseThinking {
  if (!effort) return { isOn: false, fields: {} }
  if (claude) {
    const budget = maxTokens ?? claude.maxOutput ?? 0
    const claudeThinking = toClaudeThinking(effort, {
      family: claude,
      maxTokens: budget,
      lostThoughts,
    })
    const fields = {
      ...(claudeThinking.field && { thinking: claudeThinking.field }),
      ...(claudeThinking.effort && { output_config: { effort: claudeThinking.effort } }),
    }
    return { isOn: claudeThinking.isOn, fields }
  }
  if (thinking === 'levels') return { isOn: true, fields: { reasoning_effort: effort } }
  if (thinking === 'three_levels') {
    return { isOn: true, fields: { reasoning_effort: threeLevels[effort] } }
  }
  return thinking === 'nova' ? toNovaThinking(effort) : { isOn: false, fields: {} }
}

/** These models always think. */
const threeLevels: Readonly<Record<ReasoningEffort, string>> = {
  none: 'low',
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
}

function toNovaThinking(effort: ReasoningEffort): ConverseThinking {
  if (effort === 'none') return { isOn: false, fields: { reasoningConfig: { type: 'disabled' } } }
  // Its highest effort refuses an output limit, and there is always one.
  const level = effort === 'minimal' || effort === 'low' ? 'low' : 'medium'
  const reasoningConfig = { type: 'enabled', maxReasoningEffort: level }
  return { isOn: true, fields: { reasoningConfig } }
}

/** Formerly the mark of thoughts that came from here. */
const formerFormat = 'bedrock'

/**
 * Returns whether a thought is signed by a Claude, on whatever platform: only these models sign theirs.
 * @see https://docs.claude.com/en/docs/build-with-claude/extended-thinking
 */
export const isClaudes = ({ format }: JsonObject): boolean =>
  format === anthropicThoughtFormat || format === formerFormat

/**
 * Returns whether the model waits for the results of calls whose thoughts do not go back to it, because
 * the client did not keep them or they are not to be sent. Claude refuses to continue thinking in that
 * case.
 */
export function hasLostThoughts(turns: readonly HistoryTurn[], areSent: boolean): boolean {
  const answer = turns.findLast((turn) => turn.role === 'assistant')
  if (!answer || answer.calls.length === 0) return false
  return !areSent || !answer.details.some((detail) => isClaudes(detail) && isSigned(detail))
}
