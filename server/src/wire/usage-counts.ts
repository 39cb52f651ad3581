import { isObject, type JsonObject } from './json-body'

const maxTokens = 1_000_000_000

/** Zero is zero, absent is absent; negative, fractional, textual or absurd numbers are flaws. */
export class Counter {
  /** Something that was read is no number of tokens. */
  isFlawed = false

  read(source: JsonObject, name: string): number | undefined {
    const value = source[name]
    if (value === undefined || value === null) return undefined
    if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= maxTokens) {
      return Number(value)
    }
    this.isFlawed = true
    return undefined
  }
}

const noUsage: JsonObject = {}

export const child = (parent: JsonObject, name: string) => {
  const value = parent[name]
  return isObject(value) ? value : undefined
}

/** The counts of one block, before it is decided which of them hold the others. */
export interface BlockCounts {
  prompt: number
  completion: number
  total: number | undefined
  cached: number
  cacheWrite: number
  /** The part of `written` that is kept for an hour. */
  cacheWriteLong: number
  audioInput: number
  /** Sound that was read from a cache: part of `cached`. */
  cachedAudio: number
  imageInput: number
  thought: number
  audioOutput: number
  imageOutput: number
  searches: number
  flawed: boolean
}

/**
 * Reads the counts of a usage block; undefined where it has none, or counts its prompt or its completion
 * by something other than a whole number.
 */
export function readBlockCounts(block: JsonObject): BlockCounts | undefined {
  const counter = new Counter()
  const ofPrompt = counter.read(block, 'prompt_tokens')
  const ofCompletion = counter.read(block, 'completion_tokens')
  // Where a count is no number, deriving it from the other or a total would be a guess.
  if (counter.isFlawed) return undefined
  const total = counter.read(block, 'total_tokens')
  if (total === undefined && ofPrompt === undefined && ofCompletion === undefined) return undefined
  // Embedding providers may give only the total; whichever count is missing is the rest of it.
  const prompt = ofPrompt ?? Math.max(0, (total ?? 0) - (ofCompletion ?? 0))
  const completion = ofCompletion ?? Math.max(0, (total ?? 0) - prompt)

  return toBlockCounts(block, { prompt, completion, total }, counter)
}

/** Adds the parts of the prompt and the completion, and the counts beside them. */
function toBlockCounts(
  block: JsonObject,
  totals: Pick<BlockCounts, 'prompt' | 'completion' | 'total'>,
  counter: Counter,
): BlockCounts {
  const promptDetails =
    child(block, 'prompt_tokens_details') ?? child(block, 'prompt_token_details') ?? noUsage
  const completionDetails = child(block, 'completion_tokens_details') ?? noUsage
  return {
    prompt: totals.prompt,
    completion: totals.completion,
    total: totals.total,
    cached: cachedIn(promptDetails, block, counter),
    cacheWrite: writtenIn(promptDetails, block, counter),
    cacheWriteLong: writtenLongIn(promptDetails, block, counter),
    audioInput: counter.read(promptDetails, 'audio_tokens') ?? 0,
    cachedAudio: counter.read(promptDetails, 'cached_audio_tokens') ?? 0,
    imageInput: counter.read(promptDetails, 'image_tokens') ?? 0,
    thought: thoughtIn(completionDetails, block, counter),
    audioOutput: counter.read(completionDetails, 'audio_tokens') ?? 0,
    imageOutput: counter.read(completionDetails, 'image_tokens') ?? 0,
    searches: searchesIn(block, counter),
    // After all of them were read.
    flawed: counter.isFlawed,
  }
}

const cachedIn = (details: JsonObject, block: JsonObject, counter: Counter): number =>
  counter.read(details, 'cached_tokens') ??
  counter.read(block, 'cached_tokens') ??
  counter.read(block, 'prompt_cache_hit_tokens') ??
  counter.read(block, 'num_cached_tokens') ??
  0

const writtenIn = (details: JsonObject, block: JsonObject, counter: Counter): number =>
  counter.read(details, 'cache_write_tokens') ??
  counter.read(details, 'cache_creation_input_tokens') ??
  counter.read(block, 'cache_creation_input_tokens') ??
  0

/** Anthropic's detail of its own count, which OpenAI-compatible servers of Claude repeat. */
const writtenLongIn = (details: JsonObject, block: JsonObject, counter: Counter): number => {
  const cacheCreation = child(details, 'cache_creation') ?? child(block, 'cache_creation')
  return cacheCreation ? (counter.read(cacheCreation, 'ephemeral_1h_input_tokens') ?? 0) : 0
}

const searchesIn = (block: JsonObject, counter: Counter): number => {
  const tools = child(block, 'server_tool_use')
  const searchRequests = tools ? counter.read(tools, 'web_search_requests') : undefined
  return searchRequests ?? counter.read(block, 'num_search_queries') ?? 0
}

const thoughtIn = (details: JsonObject, block: JsonObject, counter: Counter): number =>
  counter.read(details, 'reasoning_tokens') ?? counter.read(block, 'reasoning_tokens') ?? 0
