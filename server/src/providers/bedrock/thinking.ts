import type { Family } from './families'
import type { Turn } from '../conversation'
import type { ChatRequest } from '../../wire/chat-request'
import type { JsonObject } from '../../wire/json-body'

type Effort = NonNullable<ChatRequest['reasoning_effort']>

/** How hard the caller wants the model to think; undefined where he does not say. */
export const effortOf = (chat: ChatRequest): Effort | undefined =>
  chat.reasoning_effort ?? chat.reasoning?.effort ?? undefined

/** Tokens to think where nothing limits the answer, and the share of an answer that is limited. */
const budgets: Readonly<Record<Effort, readonly [tokens: number, share: number]>> = {
  none: [0, 0],
  minimal: [1024, 0.1],
  low: [2048, 0.2],
  medium: [8192, 0.5],
  high: [16_384, 0.75],
  xhigh: [32_768, 0.8],
  max: [65_536, 0.8],
}
const leastBudget = 1024

/** The fields that ask a model to think, and whether it will. */
export interface ThinkingFields {
  isOn: boolean
  fields: JsonObject
}

const off: ThinkingFields = { isOn: false, fields: {} }

/**
 * What a model's family makes of an effort. Thinking never adds to the output limit, which is all
 * that is paid for: a budget is a share of it, and none at all where the least does not fit.
 */
export function toThinking(
  effort: Effort | undefined,
  { thinking, thinkingOff }: Family,
  maxTokens: number | undefined,
): ThinkingFields {
  if (effort === undefined || thinking === 'none') return off
  if (effort === 'none') return withoutThinking(thinking, thinkingOff)
  return thinking === 'budget' ? budgetOf(effort, maxTokens) : levelOf(effort, thinking)
}

function budgetOf(effort: Effort, maxTokens: number | undefined): ThinkingFields {
  const [tokens, share] = budgets[effort]
  const most = maxTokens === undefined ? tokens : Math.floor(maxTokens * share)
  const budget = Math.max(leastBudget, Math.min(tokens, most))
  if (maxTokens !== undefined && budget >= maxTokens) return off
  return { isOn: true, fields: { thinking: { type: 'enabled', budget_tokens: budget } } }
}

function levelOf(effort: Effort, thinking: 'adaptive' | 'nova' | 'effort'): ThinkingFields {
  if (thinking === 'effort') {
    return { isOn: true, fields: { reasoning_effort: toThreeLevels(effort) } }
  }
  const isLow = effort === 'minimal' || effort === 'low'
  if (thinking === 'nova') {
    // Its highest effort refuses an output limit, and there is always one.
    const level = isLow ? 'low' : 'medium'
    return {
      isOn: true,
      fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: level } },
    }
  }
  const fields = {
    thinking: { type: 'adaptive', display: 'summarized' },
    output_config: { effort: isLow ? 'low' : effort },
  }
  return { isOn: true, fields }
}

function toThreeLevels(effort: Effort): 'low' | 'medium' | 'high' {
  if (effort === 'none' || effort === 'minimal' || effort === 'low') return 'low'
  return effort === 'medium' ? 'medium' : 'high'
}

function withoutThinking(
  thinking: Family['thinking'],
  thinkingOff: Family['thinkingOff'],
): ThinkingFields {
  if (thinkingOff === 'unasked') return off
  if (thinkingOff === 'low') {
    const isEffort = thinking === 'effort'
    return {
      // These think whatever they are told.
      isOn: true,
      fields: isEffort ? { reasoning_effort: 'low' } : { output_config: { effort: 'low' } },
    }
  }
  const disabled = { type: 'disabled' }
  return {
    isOn: false,
    fields: thinking === 'nova' ? { reasoningConfig: disabled } : { thinking: disabled },
  }
}

const lastAnswer = (turns: readonly Turn[]) => turns.findLast((turn) => turn.role === 'assistant')

/** Whether the model waits for the results of its calls. */
export const isInLoop = (turns: readonly Turn[]): boolean =>
  (lastAnswer(turns)?.calls.length ?? 0) > 0

/**
 * Whether the client kept what the model thought before its last calls. Where it did not, Claude
 * would refuse to think on.
 */
export const hasThoughts = (turns: readonly Turn[], format: string): boolean =>
  lastAnswer(turns)?.details.some((detail) => detail['format'] === format) ?? false
