import type { ClaudeFamily } from './families'
import type { ChatRequest } from '../../wire/chat-request'
import type { JsonObject } from '../../wire/json-body'

/** The amount of thinking of a request. */
export interface ClaudeThinking {
  /** The field `thinking`. */
  field?: JsonObject
  /** `output_config.effort`. */
  effort?: string
  /** Sampling settings and a forced tool are refused beside it. */
  isOn: boolean
}

/** The share of the output that thinking may take, for models with a budget. */
const shares = { minimal: 0.1, low: 0.2, medium: 0.5, high: 0.8, xhigh: 0.9, max: 0.95 } as const
const minBudget = 1024
const maxBudget = 32_000

type Effort = Exclude<NonNullable<ChatRequest['reasoning_effort']>, 'none'>

interface Limits {
  family: ClaudeFamily
  maxTokens: number
  /** The calls of a tool loop lack the thinking that led to them; with thinking it would be a 400. */
  lostThoughts: boolean
}

/** `reasoning_effort` in the words of a family. */
export function toClaudeThinking(
  effort: ChatRequest['reasoning_effort'],
  { family, maxTokens, lostThoughts }: Limits,
): ClaudeThinking {
  if (!effort || family.thinking === 'none') return { isOn: false }
  if (effort === 'none') return disableThinking(family)
  if (family.thinking === 'adaptive') {
    const level = effortOf(effort, family)
    if (lostThoughts && family.off !== 'never') return { effort: level, isOn: false }
    // Without `display` newer models do not show their thoughts.
    return { field: { type: 'adaptive', display: 'summarized' }, effort: level, isOn: true }
  }
  // The hold pays for `maxTokens`, so that thinking comes out of it, as with OpenAI's own models.
  const share = Math.floor(maxTokens * shares[effort])
  const budget = Math.min(Math.max(share, minBudget), maxBudget)
  if (lostThoughts || maxTokens < 2 * minBudget) return { isOn: false }
  return { field: { type: 'enabled', budget_tokens: budget }, isOn: true }
}

function disableThinking({ off }: ClaudeFamily): ClaudeThinking {
  switch (off) {
    case 'disabled':
      return { field: { type: 'disabled' }, isOn: false }
    case 'between_tools':
      return { field: { type: 'between_tools' }, effort: 'low', isOn: false }
    case 'never':
    default:
      return { effort: 'low', isOn: false }
  }
}

/** The nearest level that the family knows. */
function effortOf(effort: Effort, { furtherEfforts }: ClaudeFamily): string {
  if (effort === 'minimal') return 'low'
  if (effort !== 'xhigh' && effort !== 'max') return effort
  return furtherEfforts.includes(effort) ? effort : 'high'
}
