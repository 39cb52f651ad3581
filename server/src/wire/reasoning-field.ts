import { isObject, type JsonObject } from './json-body'

/** The effort that a chat request asks for, and the fields of its `reasoning` that an effort cannot stand for. */
interface RequestedReasoning {
  effort: unknown
  omitted: readonly string[]
}

const nothing: readonly string[] = []

const isUsed = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

/** Returns the level of a budget of thinking. Source: contract 5.1. */
export function toEffort(budgetTokens: number): 'low' | 'medium' | 'high' {
  if (budgetTokens < 4096) return 'low'
  return budgetTokens < 16_384 ? 'medium' : 'high'
}

/**
 * Reads `reasoning_effort`, and `reasoning` as OpenRouter documents it: an effort, a budget in tokens, or whether to
 * think at all. `derives` decides whether an effort stands for the other two.
 * @see https://openrouter.ai/docs/use-cases/reasoning-tokens
 */
export function readReasoning(
  { reasoning_effort: givenEffort, reasoning }: JsonObject,
  derives: (effort: string) => boolean = () => true,
): RequestedReasoning {
  if (!isObject(reasoning)) return { effort: givenEffort, omitted: nothing }
  const { effort: namedEffort, max_tokens: budget, enabled, exclude, ...others } = reasoning
  const own = givenEffort ?? namedEffort
  const derived = deriveEffort(budget, enabled)
  const isDerived = !isUsed(own) && derived !== undefined && derives(derived.effort)
  return {
    effort: isDerived ? derived.effort : (own ?? undefined),
    omitted: [
      ...(derived && !isDerived && !isImplied(derived, own) ? [`reasoning.${derived.field}`] : []),
      ...(exclude === true ? ['reasoning.exclude'] : []),
      ...unknownIn(others),
    ],
  }
}

interface DerivedEffort {
  effort: string
  /** The field that it stands for. */
  field: string
}

function deriveEffort(budget: unknown, enabled: unknown): DerivedEffort | undefined {
  if (enabled === false) return { effort: 'none', field: 'enabled' }
  if (typeof budget === 'number' && budget > 0) {
    return { effort: toEffort(budget), field: 'max_tokens' }
  }
  return enabled === true ? { effort: 'medium', field: 'enabled' } : undefined
}

/** An effort says itself whether the model is to think. */
const isImplied = ({ effort, field }: DerivedEffort, own: unknown): boolean =>
  field === 'enabled' && isUsed(own) && (effort === 'none') === (own === 'none')

const unknownIn = (others: JsonObject): string[] =>
  Object.keys(others)
    .filter((name) => isUsed(others[name]))
    .map((name) => `reasoning.${name}`)
