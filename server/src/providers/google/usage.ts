import { isObject, type JsonObject } from '../../wire/json-body'
import { completionBuckets, promptBuckets, readUsage, type Usage } from '../../wire/usage'
import type { MissingSides } from '../../wire/usage-claims'

/**
 * Reads `usageMetadata`; undefined until it counts something. Cached tokens are inside the prompt,
 * thoughts outside the candidates, and tokens that tools put into the prompt outside of it.
 * @see https://ai.google.dev/api/generate-content#UsageMetadata
 */
export function readGoogleUsage(block: unknown): Usage | undefined {
  if (!isObject(block)) return undefined
  const prompt = sum(block['promptTokenCount'], block['toolUsePromptTokenCount'])
  const { promptTokensDetails: ofPrompt, cacheTokensDetails: ofCache } = block
  const { candidatesTokensDetails: ofCandidates } = block
  return readUsage(
    {
      prompt_tokens: prompt,
      completion_tokens: block['candidatesTokenCount'],
      total_tokens: totalOf(block),
      prompt_tokens_details: {
        cached_tokens: block['cachedContentTokenCount'],
        cached_audio_tokens: tokensOf('AUDIO', ofCache),
        audio_tokens: uncachedTokensOf('AUDIO', ofPrompt, ofCache),
        image_tokens: uncachedTokensOf('IMAGE', ofPrompt, ofCache),
      },
      completion_tokens_details: {
        reasoning_tokens: block['thoughtsTokenCount'],
        audio_tokens: tokensOf('AUDIO', ofCandidates),
        image_tokens: tokensOf('IMAGE', ofCandidates),
      },
    },
    'outside',
  )
}

/** Reads the usage of an answer with images: all that the model wrote is theirs, unless the counts say otherwise. */
export function readDrawnUsage(block: unknown): Usage | undefined {
  const usage = readGoogleUsage(block)
  return usage && isObject(block) ? withModality(usage, block, 'IMAGE') : usage
}

/** The kinds of content that have tokens of their own. */
export type Modality = 'AUDIO' | 'IMAGE'

/** Counts all that the model wrote as content of one kind, unless the block counts that kind. */
function withModality(usage: Usage, block: JsonObject, modality: Modality): Usage {
  const counted = tokensOf(modality, block['candidatesTokensDetails'])
  if (isCount(counted) && counted >= 0) return usage
  const bucket = modality === 'IMAGE' ? 'imageOutput' : 'audioOutput'
  return { ...usage, output: 0, [bucket]: usage.output }
}

/**
 * The counts of one stream. Each event has totals, which may correct the earlier ones: Google bills the last. A side
 * that an event does not count stays as it was.
 */
export class GoogleCounts {
  #usage: Usage | undefined
  #hasPrompt = false

  /** The prompt, where no event has counted it, by itself or in a total: an output that is left out is none. */
  get missingSides(): MissingSides | undefined {
    return this.#hasPrompt ? undefined : { prompt: true }
  }

  /** Returns the usage so far; undefined for an event without counts. `modality`: that of the media in the answer. */
  next(block: unknown, modality?: Modality): Usage | undefined {
    const counted = readGoogleUsage(block)
    if (!counted || !isObject(block)) return undefined
    const usage = modality ? withModality(counted, block, modality) : counted
    this.#hasPrompt ||= isPresent(block['promptTokenCount']) || isPresent(block['totalTokenCount'])
    const before = this.#usage
    this.#usage = before ? { ...usage, ...uncounted(block, before) } : usage
    return this.#usage
  }
}

const isPresent = (count: unknown) => count !== undefined && count !== null

/** Returns the counts of the sides that a block does not have. */
function uncounted(block: JsonObject, before: Usage): Partial<Usage> {
  const has = (name: string) => isPresent(block[name])
  const keptUsage: Partial<Usage> = {}
  if (!has('promptTokenCount')) {
    for (const bucket of promptBuckets) keptUsage[bucket] = before[bucket]
    keptUsage.cachedAudio = before.cachedAudio
  }
  if (!has('candidatesTokenCount') && !has('thoughtsTokenCount')) {
    const { promptTokenCount: prompt, totalTokenCount: total } = block
    // A total above the prompt counts the output, under no name.
    const isCounted = isCount(total) && isCount(prompt) && total > prompt
    if (!isCounted) for (const bucket of completionBuckets) keptUsage[bucket] = before[bucket]
  }
  return keptUsage
}

/** Reads the usage of embeddings, whose images have a price of their own; nothing is written or cached. */
export function readGoogleInputUsage(block: unknown): Usage | undefined {
  if (!isObject(block)) return undefined
  const { promptTokenCount, promptTokensDetails: details } = block
  return readUsage(
    {
      prompt_tokens: promptTokenCount,
      prompt_tokens_details: {
        audio_tokens: tokensOf('AUDIO', details),
        image_tokens: tokensOf('IMAGE', details),
      },
    },
    'inside',
  )
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value)

/** Adds the second to the first; a value that is no number of tokens is left to the reader of the block. */
function sum(first: unknown, second: unknown): unknown {
  if (second === undefined || second === null) return first
  if (first === undefined || first === null || !isCount(second)) return second
  return isCount(first) ? first + second : first
}

/** Google's total does not always count the tokens that tools put into the prompt; Tollgate's does. */
function totalOf(block: JsonObject): unknown {
  const total = block['totalTokenCount']
  const tools = block['toolUsePromptTokenCount']
  if (!isCount(total) || !isCount(tools)) return total
  const names = ['promptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount']
  const rest = names.reduce((all, name) => all + Number(block[name] ?? 0), 0)
  return total === rest ? total + tools : total
}

/** The tokens of one modality in a prompt without its cached part, which is counted by itself. */
function uncachedTokensOf(modality: Modality, ofPrompt: unknown, ofCache: unknown): unknown {
  const tokens = tokensOf(modality, ofPrompt)
  const cachedTokens = tokensOf(modality, ofCache)
  return isCount(tokens) && isCount(cachedTokens) ? tokens - cachedTokens : tokens
}

/** The tokens of one modality in a list of tokens by modality; undefined where it names none. */
function tokensOf(modality: Modality, details: unknown): unknown {
  if (!Array.isArray(details)) return undefined
  const row: unknown = details.find((entry) => isObject(entry) && entry['modality'] === modality)
  return isObject(row) ? row['tokenCount'] : undefined
}
