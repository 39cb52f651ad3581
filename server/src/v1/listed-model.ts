import { collectionPrefix } from '../catalog/collection'
import { writesText, type Category, type Model, type Pricing } from '../catalog/model'
import type { Snapshot } from '../catalog/snapshot'
import { formatDecimal, formatPlainUsd } from '../wire/usd'

/** The facts of a model, or of a collection, that lists of models show. */
export type ListedFacts = Pick<
  Model,
  | 'id'
  | 'provider'
  | 'name'
  | 'category'
  | 'contextLength'
  | 'maxInputTokens'
  | 'maxOutputTokens'
  | 'capabilities'
  | 'pricing'
  | 'isFree'
  | 'createdAt'
  | 'deprecatedAt'
>

/** A collection that an account may call. */
export interface CallableCollection {
  name: string
  /** Unix seconds. */
  createdAt: number
}

/** Lists a collection in the form of a model, whose members decide the rest. Source: contract 4.6. */
export const toCollectionFacts = ({ name, createdAt }: CallableCollection): ListedFacts => ({
  id: `${collectionPrefix}${name}`,
  provider: 'collection',
  name,
  category: 'chat',
  contextLength: null,
  maxInputTokens: null,
  maxOutputTokens: null,
  capabilities: {
    vision: true,
    audio: true,
    tools: true,
    reasoning: true,
    streaming: true,
    json_mode: true,
    json_schema: true,
  },
  pricing: null,
  isFree: false,
  createdAt,
  deprecatedAt: null,
})

/** Digits behind the point of the least price of a token: a nano-dollar for a million. */
const decimalsOfToken = 15

const perToken = (nanosPerMillion: bigint) => formatDecimal(nanosPerMillion, decimalsOfToken)

/** The price in lists of OpenRouter where it is not known before the call. */
const unknownPrice = '-1'

/** Each rate with its name there, for tokens and for pieces. */
const tokenRates = [
  ['cachedInput', 'input_cache_read'],
  ['cacheWrite', 'input_cache_write'],
  ['cacheWriteLong', 'input_cache_write_1h'],
  ['reasoning', 'internal_reasoning'],
  ['audioInput', 'audio'],
  ['audioOutput', 'audio_output'],
  ['imageInput', 'image_token'],
  ['imageOutput', 'image_output'],
] as const
const pieceRates = [
  ['image', 'image'],
  ['request', 'request'],
  ['search', 'web_search'],
  ['madeImage', 'image_output'],
] as const

/** Shows the usual price as OpenRouter does: USD a token, or a piece, as text. */
function toTokenPrices(pricing: Pricing | null, isFree: boolean): Record<string, string> {
  if (isFree) return { prompt: '0', completion: '0' }
  if (!pricing) return { prompt: unknownPrice, completion: unknownPrice }
  const prices: Record<string, string> = {
    prompt: perToken(pricing.input),
    completion: perToken(pricing.output),
  }
  for (const [rate, name] of tokenRates) {
    const price = pricing[rate]
    if (price !== undefined) prices[name] = perToken(price)
  }
  for (const [rate, name] of pieceRates) {
    const price = pricing[rate]
    if (price !== undefined) prices[name] = formatPlainUsd(price)
  }
  return prices
}

/** The names that OpenRouter has for outputs; it has none for moderation. */
const outputOf: Readonly<Record<Category, string>> = {
  chat: 'text',
  completion: 'text',
  embedding: 'embeddings',
  moderation: 'moderation',
  rerank: 'rerank',
  image: 'image',
  speech: 'speech',
  transcription: 'transcription',
}

function modalitiesOf({ category, capabilities: { vision, audio } }: ListedFacts) {
  const input = ['text', ...(vision ? ['image'] : []), ...(audio ? ['audio'] : [])]
  return { input, output: [outputOf[category]] }
}

const sampling = [
  'temperature',
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'seed',
  'logit_bias',
  'logprobs',
  'top_logprobs',
]
/** Providers with a format of their own have these alone. */
const translatedSampling = new Set(['temperature', 'top_p'])

type ListedProvider = ReturnType<Snapshot['providers']['get']>

/** Returns the fields that a provider, or a model of it that thinks, refuses. */
function refusedFields({ id }: ListedFacts, provider: ListedProvider): ReadonlySet<string> {
  if (!provider) return new Set()
  const { drop, reasoningModels, reasoningModelsDrop } = provider.options
  const name = id.slice(provider.key.length + 1)
  const isThinking = reasoningModels.some((prefix) => name.startsWith(prefix))
  return new Set(isThinking ? [...drop, ...reasoningModelsDrop] : drop)
}

const isRelayed = (provider: ListedProvider): boolean =>
  provider?.dialect === 'openai' || provider?.dialect === 'azure'

/** Lists the fields of a chat that have an effect on a model. */
function supportedParameters(model: ListedFacts, { providers }: Snapshot): string[] {
  if (!writesText(model.category)) return []
  const { tools, reasoning, json_mode: hasJson, json_schema: hasSchemas } = model.capabilities
  const provider = providers.get(model.provider)
  const refused = refusedFields(model, provider)
  const fields = [
    'max_tokens',
    'max_completion_tokens',
    'stop',
    ...sampling.filter((field) => isRelayed(provider) || translatedSampling.has(field)),
    ...(tools ? ['tools', 'tool_choice', 'parallel_tool_calls'] : []),
    ...(reasoning ? ['reasoning', 'reasoning_effort'] : []),
    ...(hasJson || hasSchemas ? ['response_format'] : []),
    ...(hasSchemas ? ['structured_outputs'] : []),
  ]
  return fields.filter((field) => !refused.has(field))
}

/** Returns the path of a model's entry; a collection is in the list of them. */
const detailsOf = ({ id }: ListedFacts): string =>
  id.startsWith(collectionPrefix) ? '/api/user/model-collections' : `/api/models/${id}`

const dateOf = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10)

/**
 * Shows a model in the list: the seven fields of OpenAI, and those that clients of OpenRouter read beside them.
 * Source: contract 4.6. @see https://openrouter.ai/docs/api-reference/list-available-models
 */
export function toListedModel(model: ListedFacts, snapshot: Snapshot) {
  const { id, provider, contextLength, maxInputTokens, maxOutputTokens, deprecatedAt } = model
  const { input, output } = modalitiesOf(model)
  const context = writesText(model.category) ? contextLength : null
  return {
    id,
    object: 'model' as const,
    created: model.createdAt,
    owned_by: provider,
    permission: [],
    root: id.slice(provider.length + 1),
    parent: null,
    name: model.name,
    canonical_slug: id,
    context_length: context,
    max_output_tokens: maxOutputTokens,
    architecture: {
      modality: `${input.join('+')}->${output.join('+')}`,
      input_modalities: input,
      output_modalities: output,
      tokenizer: 'Other',
      instruct_type: null,
    },
    pricing: toTokenPrices(model.pricing, model.isFree),
    top_provider: {
      context_length: context,
      max_completion_tokens: maxOutputTokens,
      is_moderated: false,
    },
    per_request_limits:
      maxInputTokens === null
        ? null
        : {
            prompt_tokens: maxInputTokens,
            completion_tokens: maxOutputTokens ?? contextLength ?? maxInputTokens,
          },
    supported_parameters: supportedParameters(model, snapshot),
    supported_voices: null,
    default_parameters: null,
    expiration_date: deprecatedAt === null ? null : dateOf(deprecatedAt),
    links: { details: detailsOf(model) },
  }
}
