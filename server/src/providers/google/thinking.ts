import { parseGeneration } from './model-name'
import type { ChatRequest, ReasoningEffort } from '../../wire/chat-request'
import type { JsonObject } from '../../wire/json-body'
import type { AdapterTarget } from '../adapter'

// The budgets of Google's own OpenAI surface. https://ai.google.dev/gemini-api/docs/openai
const budgets: Record<ReasoningEffort, number> = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
}

/** `thinkingConfig`, undefined for models that do not think. */
export function toThinkingConfig(chat: ChatRequest, target: AdapterTarget): JsonObject | undefined {
  const { upstreamModel: model, capabilities } = target
  const generation = parseGeneration(model)
  if (!capabilities.reasoning || generation < 2.5) return undefined
  const effort = chat.reasoning_effort ?? chat.reasoning?.effort
  // A request without thinking wants no thoughts shown either.
  const withThoughts = effort === 'none' ? {} : { includeThoughts: true }
  // This model thinks only on request, and refuses to show thoughts otherwise.
  if (!effort) return /gemini-2\.5-flash-lite/.test(model) ? undefined : withThoughts
  if (generation >= 3) return { ...withThoughts, thinkingLevel: levelOf(effort, model) }
  return { ...withThoughts, thinkingBudget: budgetOf(effort, model) }
}

/** Pro cannot stop thinking. https://ai.google.dev/gemini-api/docs/thinking#set-budget */
function budgetOf(effort: ReasoningEffort, model: string): number {
  if (!/-pro/.test(model)) return budgets[effort]
  if (effort === 'none') return 128
  return effort === 'max' ? 32_768 : budgets[effort]
}

/** The nearest level that the model knows; none of this generation can stop thinking. */
function levelOf(effort: ReasoningEffort, model: string): string {
  switch (effort) {
    case 'none':
    case 'minimal':
      return hasMinimal(model) ? 'minimal' : 'low'
    case 'low':
      return 'low'
    case 'medium':
      // The first Pro of this generation knows low and high only.
      return /gemini-3-pro/.test(model) ? 'high' : 'medium'
    default:
      return 'high'
  }
}

/** Pro never had it, and later Flash models no longer have it; unknown ones get a level that all have. */
const hasMinimal = (model: string) => /gemini-3(?:\.[0-5])?-flash/.test(model)
