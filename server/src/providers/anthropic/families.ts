/** The features that a family of Claude models accepts. Source: contract 12.7. */
export interface ClaudeFamily {
  /** Tokens; undefined for models that are no Claude. */
  maxOutput: number | undefined
  /** `output_config.format`. */
  jsonSchema: boolean
  /** `temperature` and `top_p`. */
  sampling: boolean
  thinking: 'adaptive' | 'budget' | 'none'
  /** The way to switch thinking off. */
  off: 'disabled' | 'between_tools' | 'never'
  /** Levels of effort beyond `low`, `medium` and `high`. */
  furtherEfforts: readonly ('xhigh' | 'max')[]
  /** `tool_choice` of one tool, or of any. */
  forcedTool: boolean
}

const newest: ClaudeFamily = {
  maxOutput: 128_000,
  jsonSchema: true,
  sampling: false,
  thinking: 'adaptive',
  off: 'never',
  furtherEfforts: ['xhigh', 'max'],
  forcedTool: false,
}
const opus5: ClaudeFamily = { ...newest, off: 'disabled', forcedTool: true }
const adaptive4: ClaudeFamily = { ...opus5, sampling: true }
const budget: ClaudeFamily = {
  ...adaptive4,
  maxOutput: 64_000,
  thinking: 'budget',
  furtherEfforts: [],
}

/** The first name that is in a model's decides. */
const families: readonly (readonly [name: string, family: ClaudeFamily])[] = [
  ['sonnet-5-5', { ...newest, off: 'between_tools' }],
  ['opus-5-5', newest],
  ['haiku-5-5', { ...newest, off: 'disabled', forcedTool: true }],
  ['opus-5', opus5],
  ['fable-5-1', newest],
  ['fable-5-2', newest],
  ['fable-5', { ...newest, forcedTool: true }],
  ['opus-4-8', opus5],
  ['opus-4-7', opus5],
  ['sonnet-5', opus5],
  // https://vercel.com/docs/ai-gateway/capabilities/reasoning/anthropic
  ['sonnet-4-6', { ...adaptive4, furtherEfforts: [] }],
  ['opus-4-6', { ...adaptive4, furtherEfforts: ['max'] }],
  ['sonnet-4-5', budget],
  ['opus-4-5', budget],
  ['haiku-4-5', budget],
  ['opus-4-1', { ...budget, maxOutput: 32_000 }],
  ['sonnet-4', { ...budget, jsonSchema: false }],
  ['opus-4', { ...budget, maxOutput: 32_000, jsonSchema: false }],
  ...['claude-3', 'claude-2', 'claude-instant'].map((name): [string, ClaudeFamily] => [
    name,
    { ...budget, maxOutput: 4096, jsonSchema: false, thinking: 'none' },
  ]),
  // A newer model than those known here.
  ['claude', opus5],
]

/** Servers of this dialect with models of their own. */
const foreignFamily: ClaudeFamily = { ...budget, maxOutput: undefined, jsonSchema: false }

/** The family of a model's name, which may have a cloud's prefix in front. */
export function getClaudeFamily(upstreamModel: string): ClaudeFamily {
  const name = upstreamModel.toLowerCase().replaceAll('.', '-')
  return families.find(([prefix]) => name.includes(prefix))?.[1] ?? foreignFamily
}
