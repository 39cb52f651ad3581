import { modelBehind } from './address'

/** How a family of models is asked to think. */
type Thinking = 'none' | 'adaptive' | 'budget' | 'nova' | 'effort'

/** What a family of models takes beyond what Converse has in common. */
export interface Family {
  thinking: Thinking
  /** Whether it can be told not to think; `low`: it is asked for as little as it knows. */
  thinkingOff: 'disabled' | 'low' | 'unasked'
  /** Temperature and top_p, at the same time. */
  sampling: 'both' | 'one' | 'rejected'
  /** Whether a call can be forced, and whether by a model that thinks. */
  forcedTool: 'always' | 'unless_thinking' | 'never'
  /** How an answer is held to a JSON schema: natively, by a tool that must be called, or not. */
  schema: 'native' | 'tool' | 'none'
  cachePoints: boolean
  callIds: 'sixty_four' | 'nine_alphanumerics'
}

const plain: Family = {
  thinking: 'none',
  thinkingOff: 'unasked',
  sampling: 'both',
  forcedTool: 'never',
  schema: 'none',
  cachePoints: false,
  callIds: 'sixty_four',
}

/** Claude of today; the rows below say where others differ. */
const claude: Family = {
  thinking: 'adaptive',
  thinkingOff: 'disabled',
  sampling: 'rejected',
  forcedTool: 'unless_thinking',
  schema: 'native',
  cachePoints: true,
  callIds: 'sixty_four',
}
const alwaysThinking = { ...claude, thinkingOff: 'low', forcedTool: 'never' } as const
const budgeted = { ...claude, thinking: 'budget', sampling: 'one' } as const
const nova = { ...plain, forcedTool: 'always', schema: 'tool', cachePoints: true } as const
const mistral = { ...plain, callIds: 'nine_alphanumerics' } as const

/** The first that fits counts. Sources: wire.md 8.4, and AWS's tables of features by model. */
const families: readonly (readonly [pattern: RegExp, family: Family])[] = [
  [/claude-(?:sonnet|opus)-5-5|claude-fable-5-[12](?!\d)/, alwaysThinking],
  [/claude-fable-5/, { ...claude, thinkingOff: 'low' }],
  [/claude-(?:sonnet|opus)-4-6/, { ...claude, sampling: 'one' }],
  [/claude-(?:sonnet|opus|haiku)-4-5/, budgeted],
  [/claude-opus-4-1/, { ...budgeted, schema: 'tool' }],
  // `-4-` and a date: the first models of that number.
  [/claude-(?:sonnet|opus)-4(?:-2|$|@)/, { ...budgeted, schema: 'tool', sampling: 'both' }],
  [/claude-3-7/, { ...budgeted, schema: 'tool', sampling: 'both' }],
  [
    /claude-(?:3|v?2|instant)/,
    { ...claude, thinking: 'none', thinkingOff: 'unasked', sampling: 'both', schema: 'tool' },
  ],
  [/claude/, claude],
  [/nova-2/, { ...nova, thinking: 'nova', thinkingOff: 'disabled' }],
  [/nova/, nova],
  [/mistral-large/, { ...mistral, forcedTool: 'always', schema: 'tool' }],
  [/^mistral\./, mistral],
  [/gpt-oss/, { ...plain, thinking: 'effort', thinkingOff: 'low', schema: 'native' }],
  [/^(?:qwen|deepseek\.v3|minimax|moonshot|nvidia|google|zai)/, { ...plain, schema: 'native' }],
]

export function familyOf(upstreamModel: string): Family {
  const model = modelBehind(upstreamModel)
  return families.find(([pattern]) => pattern.test(model))?.[1] ?? plain
}
