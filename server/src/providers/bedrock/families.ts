import { modelBehind } from './address'
import { familyOf as claudeFamilyOf, type Family as ClaudeFamily } from '../anthropic/families'

/** What a family of models takes beyond what Converse has in common. */
export interface Family {
  /** What its own API says of the model, where it is a Claude. */
  claude: ClaudeFamily | undefined
  /** How others are asked to think. */
  thinking: 'none' | 'nova' | 'effort'
  /** Temperature and top_p. */
  sampling: boolean
  /** Whether a call can be forced. */
  forcedTool: boolean
  /** How an answer is held to a JSON schema: natively, by a tool that must be called, or not. */
  schema: 'native' | 'tool' | 'none'
  cachePoints: boolean
  callIds: 'sixty_four' | 'nine_alphanumerics'
}

const plain: Family = {
  claude: undefined,
  thinking: 'none',
  sampling: true,
  forcedTool: false,
  schema: 'none',
  cachePoints: false,
  callIds: 'sixty_four',
}
const nova: Family = { ...plain, forcedTool: true, schema: 'tool', cachePoints: true }
const mistral: Family = { ...plain, callIds: 'nine_alphanumerics' }

/** The first that fits counts. Source: AWS's tables of features by model. */
const families: readonly (readonly [pattern: RegExp, family: Family])[] = [
  [/^amazon\.nova-2/, { ...nova, thinking: 'nova' }],
  [/^amazon\.nova/, nova],
  [/^mistral\.mistral-large/, { ...mistral, forcedTool: true, schema: 'tool' }],
  [/^mistral\./, mistral],
  [/^openai\.gpt-oss/, { ...plain, thinking: 'effort', schema: 'native' }],
  [/^(?:qwen|deepseek\.v3|minimax|moonshot|nvidia|google|zai)/, { ...plain, schema: 'native' }],
]

export function familyOf(upstreamModel: string): Family {
  const model = modelBehind(upstreamModel)
  if (model.startsWith('anthropic.')) return ofClaude(claudeFamilyOf(model))
  return families.find(([pattern]) => pattern.test(model))?.[1] ?? plain
}

const ofClaude = (claude: ClaudeFamily): Family => ({
  ...plain,
  claude,
  sampling: claude.sampling,
  forcedTool: claude.forcedTool,
  schema: claude.jsonSchema ? 'native' : 'tool',
  cachePoints: true,
})
