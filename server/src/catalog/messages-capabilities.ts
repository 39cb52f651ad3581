import type { Model } from './model'
import { getClaudeFamily } from '../providers/anthropic/families'

const support = (supported: boolean) => ({ supported })

/** How a model thinks, in the terms of the Messages format. */
interface Thinking {
  supported: boolean
  adaptive: boolean
  /** With a budget of the caller's. */
  enabled: boolean
  disabled: boolean
  betweenTools: boolean
  hasEffort: boolean
  furtherEfforts: readonly string[]
}

/** A model of another maker: Tollgate translates each way to think to an effort of its own. */
const toTranslatedThinking = (reasoning: boolean): Thinking => ({
  supported: reasoning,
  adaptive: reasoning,
  enabled: reasoning,
  disabled: true,
  betweenTools: false,
  hasEffort: reasoning,
  furtherEfforts: ['xhigh', 'max'],
})

function thinkingOf({
  id,
  capabilities: { reasoning },
}: Pick<Model, 'id' | 'capabilities'>): Thinking {
  if (!id.includes('claude')) return toTranslatedThinking(reasoning)
  const { thinking, off, sampling, furtherEfforts } = getClaudeFamily(id)
  const isAdaptive = thinking === 'adaptive'
  return {
    supported: thinking !== 'none',
    adaptive: isAdaptive,
    enabled: thinking === 'budget' || (isAdaptive && sampling),
    disabled: off === 'disabled' || thinking === 'none',
    betweenTools: off === 'between_tools',
    hasEffort: isAdaptive,
    furtherEfforts,
  }
}

/**
 * Shows what a chat model can do in the form of Anthropic's list of models; null for other models. Not shown as
 * supported is what Tollgate does not serve, such as batches.
 * @see https://docs.claude.com/en/api/models-list
 */
export function toMessagesCapabilities(
  model: Pick<Model, 'id' | 'category' | 'capabilities' | 'pricing'>,
) {
  if (model.category !== 'chat') return null
  const { vision, json_schema: hasSchemas } = model.capabilities
  const thinking = thinkingOf(model)
  const isClaude = model.id.includes('claude')
  const effort = support(thinking.hasEffort)
  const further = (name: string) =>
    support(thinking.hasEffort && thinking.furtherEfforts.includes(name))
  const search = support(model.pricing?.search !== undefined)
  const none = support(false)
  return {
    batch: none,
    citations: support(isClaude),
    code_execution: none,
    context_management: {
      supported: false,
      clear_thinking_20251015: null,
      clear_tool_uses_20250919: null,
      compact_20260112: null,
    },
    effort: {
      ...effort,
      low: effort,
      medium: effort,
      high: effort,
      xhigh: further('xhigh'),
      max: further('max'),
    },
    image_input: support(vision),
    pdf_input: support(vision && isClaude),
    server_tools: { ...search, web_search: search, code_execution: none },
    structured_outputs: support(hasSchemas),
    thinking: {
      supported: thinking.supported,
      types: {
        adaptive: support(thinking.adaptive),
        between_tools: support(thinking.betweenTools),
        disabled: support(thinking.disabled),
        enabled: support(thinking.enabled),
      },
    },
  }
}
