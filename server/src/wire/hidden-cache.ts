import { isObject, type JsonObject, toObjects } from './json-body'
import { toUsageBlock, type Usage } from './usage'

/**
 * Returns a usage whose prompt was read anew, all of it, for an account that must not learn what another one has sent
 * before: a part that was written to a cache tells by its absence what was read from it.
 */
export function withoutCacheCounts({ cachedAudio = 0, ...usage }: Usage): Usage {
  const { cachedInput, cacheWrite, cacheWriteLong } = usage
  const cachedSound = Math.min(cachedAudio, cachedInput)
  return {
    ...usage,
    input: usage.input + cachedInput - cachedSound + cacheWrite + cacheWriteLong,
    audioInput: usage.audioInput + cachedSound,
    cachedInput: 0,
    cacheWrite: 0,
    cacheWriteLong: 0,
  }
}

/** Returns the `usage` object without counts of a cache, and without the provider's own fields, which may imply them. */
export const toPlainUsageBlock = (usage: Usage) => toUsageBlock(withoutCacheCounts(usage))

/** Fields of a chat answer, or of a chunk, that tell nothing of a cache. */
const plainFields: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'system_fingerprint',
  'service_tier',
  'provider',
  'citations',
  'search_results',
  'error',
])

/**
 * Removes fields from a chat answer, or from a chunk, that are of its provider's own, in place: some hold its counts once
 * more, as do those that stand beside a choice.
 */
export function stripForeignFields(answer: JsonObject): void {
  for (const name in answer) if (!plainFields.has(name)) delete answer[name]
  for (const choice of toObjects(answer['choices'])) delete choice['usage']
}

const count = (value: unknown): number => (typeof value === 'number' ? value : 0)

/** The counts of a prompt in Anthropic's format, which stand beside each other. */
const messageCounts = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens']

/** Returns the usage of a message, or of one of its events, without counts of a cache. */
export function withoutMessageCache(usage: JsonObject): JsonObject {
  const { iterations: _passes, cache_creation: _lifetimes, ...rest } = usage
  if (messageCounts.every((name) => rest[name] === undefined)) return rest
  const input = messageCounts.reduce((sum, name) => sum + count(rest[name]), 0)
  return {
    ...rest,
    input_tokens: input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  }
}

/** Returns the usage of a Response without counts of a cache, which its input includes. */
export function withoutResponseCache(usage: JsonObject): JsonObject {
  const { input_tokens_details: details } = usage
  if (!isObject(details)) return usage
  const plain = Object.entries(details).map(([name, value]) => [
    name,
    name.includes('cache') ? 0 : value,
  ])
  return { ...usage, input_tokens_details: Object.fromEntries(plain) }
}
