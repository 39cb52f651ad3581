/** Nano-dollars per 1,000,000 tokens of a kind. A kind without a price of its own costs what `input` or `output` does. */
export interface TokenRates {
  input: bigint
  output: bigint
  /** Read from a prompt cache. */
  cachedInput?: bigint
  /** Written to a prompt cache for 5 minutes, or for as long as the provider's usual is. */
  cacheWrite?: bigint
  /** Written to it for an hour; costs what `cacheWrite` does where it has no price of its own. */
  cacheWriteLong?: bigint
  reasoning?: bigint
  audioInput?: bigint
  audioOutput?: bigint
  imageInput?: bigint
  imageOutput?: bigint
}

/** Nano-dollars by what Tollgate counts or measures itself, on top of the tokens. */
export interface MeasuredRates {
  /** Per 1,000,000 Unicode code points of the texts of the prompt. */
  inputCharacters?: bigint
  /** The same of the answer. */
  outputCharacters?: bigint
  /** Per second of processing. */
  second?: bigint
}

/** All rates of a price: those of tokens, those of what is measured, and nano-dollars per piece. */
export interface Rates extends TokenRates, MeasuredRates {
  /** Sound read from a prompt cache; costs what `cachedInput` does where it has no price of its own. */
  cachedAudioInput?: bigint
  /** Per image in the prompt. */
  image?: bigint
  /** Per request to the provider. */
  request?: bigint
  /** Per web search that the provider runs. */
  search?: bigint
}

export const serviceTiers = ['flex', 'priority', 'batch'] as const
export type ServiceTier = (typeof serviceTiers)[number]

/** Rates in place of the usual ones, where all of its conditions hold. */
export interface PriceTier {
  /** The prompt, cached tokens included, has more tokens than this. */
  above?: number
  /** The provider served the request in this tier. */
  serviceTier?: ServiceTier
  /** Minutes of the UTC day, `until` exclusive; `until` before `from` passes midnight. */
  hours?: { from: number; until: number }
  rates: Partial<Rates>
}

/** What a model costs. Tiers apply in their order: of two that hold, the later one's rates count. */
export interface Pricing extends Rates {
  tiers?: readonly PriceTier[]
}

export const categories = ['chat', 'completion', 'embedding'] as const
export type Category = (typeof categories)[number]

export const capabilities = [
  'vision',
  'audio',
  'tools',
  'reasoning',
  'streaming',
  'json_mode',
  'json_schema',
] as const
export type Capability = (typeof capabilities)[number]

/** One entry of the catalogue. */
export interface Model {
  /** `<provider>/<model>`, what callers name. */
  id: string
  /** Key of the provider. */
  provider: string
  /** What people read. */
  name: string
  /** What the provider calls it. */
  upstreamModel: string
  category: Category
  /** Tokens, prompt and output together; null for embedding models and where nobody knows. */
  contextLength: number | null
  maxOutputTokens: number | null
  capabilities: Readonly<Record<Capability, boolean>>
  /** Null where nobody knows: such a model is not served on a platform connection, never free. */
  pricing: Pricing | null
  isFree: boolean
  enabled: boolean
  /** Unix seconds. */
  createdAt: number
  deprecatedAt: number | null
  /** Numbers of an embedding; null for other models and where nobody knows. */
  dimensions: number | null
  /** Answers are made up by Tollgate itself. */
  simulated: boolean
}
