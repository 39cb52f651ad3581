import { isObject, type JsonObject } from '../wire/json-body'

/**
 * Fields that no dialect leaves out in silence: Tollgate reads them itself, each dialect has them, or
 * `refuseForeign` refuses them where there is no counterpart.
 */
const served: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'functions',
  'function_call',
  'response_format',
  'n',
  'modalities',
  'audio',
  'web_search_options',
  'moderation',
  // Routing keeps a conversation with the provider that has its prompt in the cache.
  'prompt_cache_key',
  // See docs/concepts/prompt-caching.md.
  'cache_control',
])

/** Values that request the default behaviour. */
const defaults: ReadonlyMap<string, readonly unknown[]> = new Map(
  Object.entries({
    temperature: [1],
    top_p: [1],
    presence_penalty: [0],
    frequency_penalty: [0],
    parallel_tool_calls: [true],
    reasoning_effort: ['none'],
    service_tier: ['auto', 'default'],
    store: [false],
    logprobs: [false],
    top_logprobs: [0],
  }),
)

/** Returns whether an answer without this field of a chat request may differ from one with it. */
export function isRequested(name: string, value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false
  if (defaults.get(name)?.includes(value)) return false
  if (Array.isArray(value)) return value.length > 0
  return !isObject(value) || Object.keys(value).length > 0
}

/**
 * The fields of a chat request that a provider is not sent, all but those in `accepted`, behind those of its history;
 * undefined without any.
 */
export function findOmittedFields(
  chat: JsonObject,
  accepted: readonly string[],
  ofHistory: readonly string[] = [],
): string[] | undefined {
  const omitted = [...ofHistory]
  for (const name in chat) {
    if (served.has(name) || accepted.includes(name)) continue
    if (isRequested(name, chat[name])) omitted.push(name)
  }
  return omitted.length > 0 ? omitted : undefined
}

/** Returns those fields, among the ones that are always left out, that a chat request uses. */
export const omittedOf = (chat: JsonObject, dropped: readonly string[]): string[] =>
  dropped.filter((name) => !served.has(name) && isRequested(name, chat[name]))
