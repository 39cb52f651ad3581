import { modelBehind } from './address'
import { familyOf as claudeFamilyOf, type Family as ClaudeFamily } from '../anthropic/families'

/** What a family of models takes beyond what Converse has in common. */
export interface Family {
  /** What its own API says of the model, where it is a Claude. */
  claude: ClaudeFamily | undefined
  /** How others are asked to think: in levels that are all known, or in three. */
  thinking: 'none' | 'nova' | 'levels' | 'three_levels'
  /** Temperature and top_p. */
  sampling: boolean
  /** How an answer is held to a JSON schema: natively where the catalogue knows of it, or by a tool. */
  schema: 'native' | 'tool'
  cachePoints: boolean
  callIds: 'sixty_four' | 'nine_alphanumerics'
}

const plain: Family = {
  claude: undefined,
  thinking: 'none',
  sampling: true,
  schema: 'native',
  cachePoints: false,
  callIds: 'sixty_four',
}
const nova: Family = { ...plain, schema: 'tool', cachePoints: true }
const mistral: Family = { ...plain, callIds: 'nine_alphanumerics' }

/** The first that fits counts. Source: AWS's tables of features by model. */
const families: readonly (readonly [pattern: RegExp, family: Family])[] = [
  [/^amazon\.nova-2/, { ...nova, thinking: 'nova' }],
  [/^amazon\.nova/, nova],
  [/^mistral\.(?:mistral-large-24|pixtral-large-25)/, { ...mistral, schema: 'tool' }],
  [/^mistral\./, mistral],
  [/^openai\.gpt-oss/, { ...plain, thinking: 'three_levels' }],
  // As on their own API: thinking models, which take no sampling settings.
  [/^openai\./, { ...plain, thinking: 'levels', sampling: false }],
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
  schema: claude.jsonSchema ? 'native' : 'tool',
  cachePoints: true,
})
