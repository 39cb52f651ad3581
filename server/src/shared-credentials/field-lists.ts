import { mediaFieldLists, passFields, type FateByField, type SharedFate } from './media-field-lists'
import { withAllowed, type SharedCredential } from './credential'

/** The formats in which requests reach providers. */
export type SharedFormat =
  | 'chat'
  | 'completion'
  | 'embedding'
  | 'moderation'
  | 'rerank'
  | 'image'
  | 'speech'
  | 'transcription'
  | 'messages'
  | 'responses'

const sampling = 'temperature top_p n stop seed logit_bias presence_penalty frequency_penalty user'
const streaming = 'model stream stream_options'

/**
 * Fields of the newest published SDKs. `published-lists.test.ts` compares them with the SDKs' types: a new one fails
 * there until it is decided what becomes of it.
 */
export const publishedLists: Readonly<Record<SharedFormat, FateByField>> = {
  chat: {
    ...passFields(...`${streaming} messages ${sampling}`.split(' ')),
    ...passFields('audio', 'modalities', 'prediction', 'response_format', 'verbosity'),
    ...passFields('function_call', 'functions', 'tools', 'tool_choice', 'parallel_tool_calls'),
    ...passFields('logprobs', 'top_logprobs', 'max_completion_tokens', 'max_tokens'),
    ...passFields('prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention'),
    ...passFields('reasoning_effort', 'safety_identifier', 'service_tier', 'web_search_options'),
    ...passFields('moderation'),
    // The provider would keep the answer, and what it is found by, in its account.
    store: 'omitted',
    metadata: 'omitted',
  },
  completion: passFields(
    ...`${streaming} prompt suffix echo best_of logprobs max_tokens ${sampling}`.split(' '),
  ),
  embedding: passFields('model', 'input', 'dimensions', 'encoding_format', 'user'),
  moderation: passFields('model', 'input'),
  rerank: {
    ...passFields('model', 'query', 'documents', 'top_n', 'return_documents'),
    ...passFields('max_tokens_per_doc', 'max_chunks_per_doc', 'rank_fields'),
  },
  ...mediaFieldLists,
  messages: {
    ...passFields('model', 'messages', 'system', 'max_tokens', 'stream', 'stop_sequences'),
    ...passFields('tools', 'tool_choice', 'thinking', 'output_config', 'output_format', 'metadata'),
    ...passFields('cache_control', 'context_management', 'compaction', 'mcp_servers'),
    ...passFields('inference_geo', 'service_tier', 'speed'),
    container: 'reference',
    thread: 'reference',
    // Bills whom a profile of the provider's account names.
    billing_policy: 'refused',
    // Another model than the one that may be called here.
    fallbacks: 'refused',
    // They name earlier requests of the provider's account, and change no answer.
    diagnostics: 'omitted',
    fallback_credit_token: 'omitted',
    // Headers of the SDK: see `forwarded-headers.ts`.
    betas: 'omitted',
    user_profile_id: 'omitted',
    workspace_id: 'omitted',
  },
  responses: {
    ...passFields(
      'model',
      'input',
      'instructions',
      'stream',
      'stream_options',
      'temperature',
      'top_p',
    ),
    ...passFields(
      'tools',
      'tool_choice',
      'parallel_tool_calls',
      'max_output_tokens',
      'max_tool_calls',
    ),
    ...passFields('text', 'reasoning', 'include', 'truncation', 'top_logprobs', 'image'),
    ...passFields('prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention'),
    ...passFields('safety_identifier', 'user', 'metadata', 'service_tier', 'background', 'store'),
    ...passFields('moderation', 'access_programs', 'context_management'),
    conversation: 'reference',
    previous_response_id: 'reference',
    prompt: 'reference',
    // Runs sub-agents without a bound on their number.
    multi_agent: 'refused',
    betas: 'omitted',
  },
}

/** Fields of no SDK whose loss would change the answer: inputs, constraints, references, other models and hosts. */
export const refusedElsewhere: Readonly<Record<string, Exclude<SharedFate, 'passed' | 'omitted'>>> =
  {
    // Azure reads a search index of the provider's account.
    data_sources: 'reference',
    cached_content: 'reference',
    session_params: 'reference',
    // xAI answers with the id of a request that is billed later.
    deferred: 'refused',
    // OpenRouter: what its account keeps under a name. Vercel: another model than the one that may be called.
    preset: 'reference',
    providerOptions: 'refused',
    // Engines: input beside the prompt, and programs that shape or constrain the answer.
    prompt_embeds: 'refused',
    documents: 'refused',
    chat_template: 'refused',
    custom_logit_processor: 'refused',
    logits_processors: 'refused',
    guided_json: 'refused',
    guided_regex: 'refused',
    guided_choice: 'refused',
    guided_grammar: 'refused',
    structured_outputs: 'refused',
    structural_tag: 'refused',
    regex: 'refused',
    ebnf: 'refused',
    grammar: 'refused',
  }

/** Fields of no SDK that many compatible services have, and that only tune the answer within its output limit. */
const tuning = [
  'top_k',
  'top_a',
  'min_p',
  'typical_p',
  'min_tokens',
  'stop_token_ids',
  'repetition_penalty',
  'repeat_penalty',
  'length_penalty',
  'random_seed',
  'safe_prompt',
]

/** Fields that switch thinking on and off, and show it. */
const thinking = [
  'thinking',
  'enable_thinking',
  'thinking_budget',
  'reasoning',
  'reasoning_format',
  'include_reasoning',
  'reasoning_split',
  'chat_template_kwargs',
]

const embeddingTuning = [
  'input_type',
  'task_type',
  'taskType',
  'task',
  'truncate',
  'truncation',
  'output_dtype',
  'output_dimension',
  'embedding_type',
  'embedding_types',
  'text_type',
  'normalized',
  'late_chunking',
  'instruction',
]

/** Fields of no SDK that pass everywhere. */
export const compatibleLists: Readonly<Record<SharedFormat, readonly string[]>> = {
  chat: [...tuning, ...thinking, 'cache_control'],
  completion: [...tuning, 'max_completion_tokens', 'prompt_cache_key', 'safety_identifier'],
  embedding: embeddingTuning,
  moderation: [],
  rerank: ['truncation'],
  image: [],
  speech: [],
  transcription: [],
  // Former fields of the SDK, which earlier versions of it send.
  messages: ['temperature', 'top_p', 'top_k'],
  // Codex describes itself by it.
  responses: ['client_metadata'],
}

/** Fields that pass at one provider. At a price of the platform, its rules apply beside (`metering/unpriced-fields.ts`). */
export const providerLists: Readonly<Record<string, readonly string[]>> = {
  // https://openrouter.ai/docs/api-reference/parameters
  openrouter: ['plugins', 'transforms'],
  // https://console.groq.com/docs/api-reference#chat-create
  groq: ['search_settings', 'compound_custom', 'citation_options', 'disable_tool_validation'],
  // https://docs.x.ai/docs/api-reference
  xai: ['search_parameters'],
  // https://docs.mistral.ai/api
  mistral: ['prompt_mode'],
  // https://docs.perplexity.ai/api-reference/chat-completions-post
  perplexity: [
    'search_mode',
    'search_domain_filter',
    'search_recency_filter',
    'language_preference',
    'search_after_date_filter',
    'search_before_date_filter',
    'last_updated_after_filter',
    'last_updated_before_filter',
    'return_images',
    'return_related_questions',
    'image_domain_filter',
    'image_format_filter',
    'disable_search',
    'media_response',
    'enable_search_classifier',
    'stream_mode',
  ],
  // https://www.alibabacloud.com/help/en/model-studio/use-qwen-by-calling-api
  dashscope: [
    'enable_search',
    'search_options',
    'translation_options',
    'vl_high_resolution_images',
  ],
  // https://docs.z.ai/api-reference/llm/chat-completion
  zai: ['do_sample', 'tool_stream'],
  minimax: ['mask_sensitive_info'],
  together: ['context_length_exceeded_behavior'],
  fireworks: ['context_length_exceeded_behavior', 'prompt_truncate_len', 'reasoning_history'],
  cerebras: ['disable_reasoning', 'clear_thinking'],
}

/** By format, then by the provider that has a list of its own, or none. */
const lists = new Map<SharedFormat, Map<string, ReadonlySet<string>>>()

/** Returns the fields of a format that pass on a credential. */
export function getPassedFields(
  format: SharedFormat,
  credential: SharedCredential,
): ReadonlySet<string> {
  const { key } = credential.provider
  const name = Object.hasOwn(providerLists, key) ? key : ''
  let byProvider = lists.get(format)
  if (!byProvider) lists.set(format, (byProvider = new Map()))
  let list = byProvider.get(name)
  if (!list) byProvider.set(name, (list = createList(format, providerLists[name] ?? [])))
  return withAllowed(list, credential, 'fields')
}

const createList = (format: SharedFormat, own: readonly string[]): ReadonlySet<string> =>
  new Set([
    ...Object.entries(publishedLists[format]).flatMap(([name, fate]) =>
      fate === 'passed' ? [name] : [],
    ),
    ...compatibleLists[format],
    ...(format === 'chat' || format === 'responses' ? own : []),
  ])

const references = new Map<SharedFormat, readonly string[]>()

/** Returns the fields of a format that name what a provider's account holds. */
export function getReferenceFields(format: SharedFormat): readonly string[] {
  let names = references.get(format)
  if (!names) {
    const fates = { ...publishedLists[format], ...refusedElsewhere }
    names = Object.keys(fates).filter((name) => fates[name] === 'reference')
    references.set(format, names)
  }
  return names
}

/** Returns what becomes of a field that does not pass. */
export function getWithheldFate(
  format: SharedFormat,
  field: string,
): Exclude<SharedFate, 'passed'> {
  const fates = publishedLists[format]
  const fate = Object.hasOwn(fates, field) ? fates[field] : undefined
  if (fate !== undefined && fate !== 'passed') return fate
  return (Object.hasOwn(refusedElsewhere, field) && refusedElsewhere[field]) || 'omitted'
}
