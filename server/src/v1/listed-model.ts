import { collectionPrefix } from '../catalog/collection'
import { writesText, type Category, type Model } from '../catalog/model'
import { modeOf, toArchitecture } from './listed-modalities'
import { toListedPrices } from './listed-prices'
import type { Snapshot } from '../catalog/snapshot'

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

/** The optional fields of requests to models that do not write, as OpenAI and Cohere have them. */
const ownFields: Readonly<Record<Exclude<Category, 'chat' | 'completion'>, readonly string[]>> = {
  embedding: ['dimensions', 'encoding_format'],
  moderation: [],
  rerank: ['top_n', 'return_documents', 'max_tokens_per_doc'],
  image: ['n', 'size', 'quality', 'response_format'],
  speech: ['voice', 'response_format', 'speed'],
  transcription: ['language', 'prompt', 'response_format', 'temperature'],
}

/** Lists the fields of requests to a model that have an effect. */
function supportedParameters(model: ListedFacts, { providers }: Snapshot): string[] {
  const provider = providers.get(model.provider)
  const refused = refusedFields(model, provider)
  const { category } = model
  const fields =
    category === 'chat' || category === 'completion'
      ? textFields(model, provider)
      : ownFields[category]
  return fields.filter((field) => !refused.has(field))
}

function textFields({ capabilities }: ListedFacts, provider: ListedProvider): string[] {
  const { tools, reasoning, json_mode: hasJson, json_schema: hasSchemas } = capabilities
  return [
    'max_tokens',
    'max_completion_tokens',
    'stop',
    ...sampling.filter((field) => isRelayed(provider) || translatedSampling.has(field)),
    ...(tools ? ['tools', 'tool_choice', 'parallel_tool_calls'] : []),
    ...(reasoning ? ['reasoning', 'reasoning_effort'] : []),
    ...(hasJson || hasSchemas ? ['response_format'] : []),
    ...(hasSchemas ? ['structured_outputs'] : []),
  ]
}

/** Returns the path of a model's entry; a collection is in the list of them. */
const detailsOf = ({ id }: ListedFacts): string =>
  id.startsWith(collectionPrefix) ? '/api/user/model-collections' : `/api/models/${id}`

const dateOf = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10)

/**
 * Shows a model in the list: the seven fields of OpenAI, and those that clients of OpenRouter and LiteLLM
 * read beside them.
 * Source: contract 4.6. @see https://openrouter.ai/docs/api-reference/list-available-models
 */
export function toListedModel(model: ListedFacts, snapshot: Snapshot) {
  const { id, provider, contextLength, maxInputTokens, maxOutputTokens, deprecatedAt } = model
  const context = writesText(model.category) ? contextLength : (contextLength ?? maxInputTokens)
  return {
    id,
    object: 'model' as const,
    created: model.createdAt,
    owned_by: provider,
    permission: [],
    root: id.slice(provider.length + 1),
    parent: null,
    name: model.name,
    mode: modeOf[model.category],
    canonical_slug: id,
    context_length: context,
    max_output_tokens: maxOutputTokens,
    architecture: toArchitecture(model),
    pricing: toListedPrices(model),
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
