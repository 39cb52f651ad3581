/**
 * Nano-dollars per 1,000,000 tokens of a kind. A kind without a price of its own costs as much as `input` or `output`.
 */
export interface TokenRates {
  input: bigint
  output: bigint
  /** Read from a prompt cache. */
  cachedInput?: bigint
  /** Written to a prompt cache for 5 minutes, or for the provider's default time. */
  cacheWrite?: bigint
  /** Written to it for an hour; costs as much as `cacheWrite` where it has no price of its own. */
  cacheWriteLong?: bigint
  reasoning?: bigint
  audioInput?: bigint
  audioOutput?: bigint
  imageInput?: bigint
  imageOutput?: bigint
}

/** Rates in nano-dollars for quantities that Tollgate counts or measures itself, on top of the tokens. */
export interface MeasuredRates {
  /** Per 1,000,000 Unicode code points of the texts of the prompt. */
  inputCharacters?: bigint
  /** Per 1,000,000 Unicode code points of the texts of the answer. */
  outputCharacters?: bigint
  /** Per second of processing. */
  second?: bigint
  /** Per hour of sound in the prompt. */
  audioHour?: bigint
}

/** All rates of a price: those of tokens, those of measured quantities, and nano-dollars per piece. */
export interface Rates extends TokenRates, MeasuredRates {
  /** Sound read from a prompt cache; costs as much as `cachedInput` where it has no price of its own. */
  cachedAudioInput?: bigint
  /** Per image in the prompt. */
  image?: bigint
  /** Per request to the provider. */
  request?: bigint
  /** Per web search that the provider runs, or per search unit of a ranking. */
  search?: bigint
  /** Per image of the answer. */
  madeImage?: bigint
  /** Per 1,000,000 pixels of the images of the answer. */
  madeMegapixel?: bigint
}

export const serviceTiers = ['flex', 'priority', 'batch'] as const
export type ServiceTier = (typeof serviceTiers)[number]

/** Rates that replace the ordinary ones where all of the tier's conditions hold. */
export interface PriceTier {
  /** The prompt, cached tokens included, has more tokens than this. */
  above?: number
  /** The provider served the request in this tier. */
  serviceTier?: ServiceTier
  /** Minutes of the UTC day, `until` exclusive; `until` before `from` passes midnight. */
  hours?: { from: number; until: number }
  /** The images of the answer have this quality. */
  quality?: string
  /** Each image of the answer has more pixels than this. */
  abovePixels?: number
  rates: Partial<Rates>
}

/** The price of a model. Tiers apply in their order: of two that hold, the later one's rates apply. */
export interface Pricing extends Rates {
  tiers?: readonly PriceTier[]
}

/** The provider's price for a model, and whether the operator set it or the provider publishes it. */
export interface ModelCost {
  pricing: Pricing
  source: 'operator' | 'published'
}

export const categories = [
  'chat',
  'completion',
  'embedding',
  'moderation',
  'rerank',
  'image',
  'speech',
  'transcription',
] as const
export type Category = (typeof categories)[number]

/** Whether models of a category generate text token by token, up to a limit of output. */
export const writesText = (category: Category): boolean =>
  category === 'chat' || category === 'completion'

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
  /** `<provider>/<model>`, the name in requests. */
  id: string
  /** Key of the provider. */
  provider: string
  /** The name for people. */
  name: string
  /** The provider's name for it. */
  upstreamModel: string
  category: Category
  /** Tokens, prompt and output together; null for models that write no text and where it is unknown. */
  contextLength: number | null
  /** Tokens of the longest prompt, where the context has more; null elsewhere. */
  maxInputTokens: number | null
  maxOutputTokens: number | null
  capabilities: Readonly<Record<Capability, boolean>>
  /** Null where it is unknown: such a model is not served on a platform connection, never free. */
  pricing: Pricing | null
  /** The operator's cost at the provider: null where it is unknown, absent where it is the price itself. */
  cost?: ModelCost | null
  isFree: boolean
  enabled: boolean
  /** Unix seconds. */
  createdAt: number
  deprecatedAt: number | null
  /** The length of an embedding; null for other models and where it is unknown. */
  dimensions: number | null
  /** Whether Tollgate makes up the answers itself. */
  simulated: boolean
}
