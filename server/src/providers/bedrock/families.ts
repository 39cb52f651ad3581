import { toBaseModel } from './address'
import { getClaudeFamily as claudeFamilyOf, type ClaudeFamily } from '../anthropic/families'

/** Messages and instructions can be cached by all that cache, for five minutes. */
export interface CachePoints {
  tools: boolean
  /** They may be kept for an hour. */
  hour: boolean
}

/** The abilities of a family of models beyond those that Converse has in common. */
export interface BedrockFamily {
  /** The properties of the model in its vendor's own API, where it is a Claude. */
  claude: ClaudeFamily | undefined
  /** The levels of thinking of other models: levels that are all known, or three. */
  thinking: 'none' | 'nova' | 'levels' | 'three_levels'
  /** Temperature and top_p. */
  sampling: boolean
  /** The way to a JSON schema: natively where the catalogue knows of it, or by a tool. */
  schema: 'native' | 'tool'
  /** The places where a prompt can be cached, and for how long; undefined where it cannot. */
  cachePoints: CachePoints | undefined
  callIds: 'sixty_four' | 'nine_alphanumerics'
}

const plain: BedrockFamily = {
  claude: undefined,
  thinking: 'none',
  sampling: true,
  schema: 'native',
  cachePoints: undefined,
  callIds: 'sixty_four',
}
const nova: BedrockFamily = { ...plain, schema: 'tool', cachePoints: { tools: false, hour: false } }
const mistral: BedrockFamily = { ...plain, callIds: 'nine_alphanumerics' }

/** The first that fits counts. Source: AWS, tables of features by model. */
const families: readonly (readonly [pattern: RegExp, family: BedrockFamily])[] = [
  [/^amazon\.nova-2/, { ...nova, thinking: 'nova' }],
  [/^amazon\.nova/, nova],
  [/^mistral\.(?:mistral-large-24|pixtral-large-25)/, { ...mistral, schema: 'tool' }],
  [/^mistral\./, mistral],
  [/^openai\.gpt-oss/, { ...plain, thinking: 'three_levels' }],
  // Thinking models, which take no sampling settings, as on their own API.
  [/^openai\./, { ...plain, thinking: 'levels', sampling: false }],
]

export function getBedrockFamily(upstreamModel: string): BedrockFamily {
  const model = toBaseModel(upstreamModel)
  if (model.startsWith('anthropic.')) return ofClaude(claudeFamilyOf(model), cachePointsOf(model))
  return families.find(([pattern]) => pattern.test(model))?.[1] ?? plain
}

// These models refuse breakpoints.
// https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
const withoutCache = /claude-(?:v|instant|3-haiku|3-sonnet|3-opus|3-5-sonnet-20240620)/
const withoutHour = /claude-(?:3|(?:sonnet|opus)-4-(?:20|1-))/

function cachePointsOf(model: string): CachePoints | undefined {
  return withoutCache.test(model) ? undefined : { tools: true, hour: !withoutHour.test(model) }
}

const ofClaude = (claude: ClaudeFamily, cachePoints: CachePoints | undefined): BedrockFamily => ({
  ...plain,
  claude,
  sampling: claude.sampling,
  schema: claude.jsonSchema ? 'native' : 'tool',
  cachePoints,
})
