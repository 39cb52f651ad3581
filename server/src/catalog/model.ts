/**
 * Nano-dollars: per 1,000,000 tokens, but for `image` and `request`, which are per piece. A bucket
 * without a price of its own is charged as `input` or `output`.
 */
export interface Pricing {
  input: bigint
  output: bigint
  cachedInput?: bigint
  cacheWrite?: bigint
  reasoning?: bigint
  audioInput?: bigint
  audioOutput?: bigint
  image?: bigint
  request?: bigint
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
