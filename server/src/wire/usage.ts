import { isObject, type JsonObject } from './json-body'
import { child, readBlockCounts, type BlockCounts } from './usage-counts'

/**
 * Tokens of one answer in buckets that do not overlap: `input` and `output` are text that is neither
 * cached nor reasoning nor sound nor image.
 */
export interface TokenCounts {
  input: number
  cachedInput: number
  cacheWrite: number
  /** Written to a cache that keeps it for an hour. */
  cacheWriteLong: number
  audioInput: number
  imageInput: number
  output: number
  reasoning: number
  audioOutput: number
  imageOutput: number
  /** Web searches that the provider ran, or search units of a ranking: no tokens. */
  searches: number
  /** Unicode code points of the prompt's texts and of the answer, where they are counted; no tokens. */
  inputCharacters?: number | undefined
  outputCharacters?: number | undefined
  /** Milliseconds of processing, where they are read; of a provider that reports none undefined. */
  processingMs?: number | undefined
  /** Milliseconds of sound in the prompt, where that is read by its time; no tokens. */
  audioMs?: number | undefined
}

/**
 * The usage of one answer. `flawed`: the provider's numbers contradicted each other or were no numbers;
 * `estimated`: the provider gave none.
 */
export interface Usage extends TokenCounts {
  /** The tokens of sound among those read from a cache, where the provider reports them. */
  cachedAudio?: number | undefined
  /** The fee of the request itself in nano-dollars, where the provider states it; no tokens. */
  requestFee?: bigint | undefined
  estimated: boolean
  flawed: boolean
  /** Images of the answer and the pixels of all of them; no tokens. */
  madeImages?: number | undefined
  madePixels?: number | undefined
  /** The quality of these images, where the provider reports it. */
  imageQuality?: string | undefined
  /** Unicode code points of a text that was spoken, and milliseconds of its sound; no tokens. */
  spokenCharacters?: number | undefined
  spokenMs?: number | undefined
  /** The service tier that the provider reports it served; undefined where it reports none. */
  servedTier?: string | undefined
}

export const noUsage: Usage = {
  input: 0,
  cachedInput: 0,
  cacheWrite: 0,
  cacheWriteLong: 0,
  audioInput: 0,
  imageInput: 0,
  output: 0,
  reasoning: 0,
  audioOutput: 0,
  imageOutput: 0,
  searches: 0,
  estimated: false,
  flawed: false,
}

/**
 * The place of counts that OpenAI includes in its totals: `outside` adds reasoning to the completion, and
 * to the prompt what was read from a cache if that is more than the prompt. Source: contract 12.3.
 */
export type ExtrasLayout = 'inside' | 'outside'

/**
 * Reads the usage block of a provider that speaks the OpenAI format; undefined when it has no counts, or
 * counts its prompt or its completion by something other than a whole number: then both are estimated.
 * `extras` decides only where the numbers do not. Source: contract 12.3.
 */
export function readUsage(block: unknown, extras: ExtrasLayout): Usage | undefined {
  const counts = isObject(block) ? readBlockCounts(block) : undefined
  if (!counts) return undefined
  const { prompt, completion, cached, cacheWrite, thought } = counts
  const { cacheOutside, thoughtOutside, unnamed, agrees } = layoutOf(counts, extras)
  // More in the cache than in a prompt that holds it: no more than the prompt is believed.
  const fits = cacheOutside || cached + cacheWrite <= prompt
  const text = cacheOutside ? prompt : Math.max(0, prompt - cached - cacheWrite)
  const answerTokens = thoughtOutside ? completion : completion - thought
  // Sound and images out of a count that holds them; no more of them than that.
  const audioInput = Math.min(counts.audioInput, text)
  const imageInput = Math.min(counts.imageInput, text - audioInput)
  const audioOutput = Math.min(counts.audioOutput, answerTokens)
  const imageOutput = Math.min(counts.imageOutput, answerTokens - audioOutput)
  // Sound and images read from a cache are in both counts, so only more than the whole is a contradiction.
  const exceedsTotals =
    counts.audioInput + counts.imageInput > prompt ||
    counts.audioOutput + counts.imageOutput > completion
  const cachedAudio = Math.min(counts.cachedAudio, fits ? cached : prompt)
  const writtenLong = fits ? Math.min(counts.cacheWriteLong, cacheWrite) : 0
  const usage: Usage = {
    input: text - audioInput - imageInput,
    cachedInput: fits ? cached : prompt,
    cacheWrite: fits ? cacheWrite - writtenLong : 0,
    cacheWriteLong: writtenLong,
    audioInput,
    imageInput,
    output: answerTokens - audioOutput - imageOutput,
    reasoning: thought + unnamed,
    audioOutput,
    imageOutput,
    searches: counts.searches,
    estimated: false,
    flawed: counts.flawed || !agrees || !fits || exceedsTotals,
  }
  if (cachedAudio > 0) usage.cachedAudio = cachedAudio
  return usage
}

/**
 * An arrangement of counts: which of them stand beside the prompt and the completion, and the tokens that
 * only the total counts.
 */
interface Layout {
  cacheOutside: boolean
  thoughtOutside: boolean
  unnamed: number
  agrees: boolean
}

/** The layouts in the order in which they are tried. */
const agreeingLayouts: readonly Layout[] = [
  { cacheOutside: false, thoughtOutside: false, unnamed: 0, agrees: true },
  { cacheOutside: false, thoughtOutside: true, unnamed: 0, agrees: true },
  { cacheOutside: true, thoughtOutside: false, unnamed: 0, agrees: true },
  { cacheOutside: true, thoughtOutside: true, unnamed: 0, agrees: true },
]

/** The reading of which the provider's total is the sum; where there is none, its habit decides. */
function layoutOf(counts: BlockCounts, extras: ExtrasLayout): Layout {
  const { prompt, completion, total, cached, cacheWrite, thought } = counts
  const stored = cached + cacheWrite
  for (const layout of agreeingLayouts) {
    const { cacheOutside, thoughtOutside } = layout
    const isPossible =
      (cacheOutside || stored <= prompt) && (thoughtOutside || thought <= completion)
    const sum = prompt + completion + (cacheOutside ? stored : 0) + (thoughtOutside ? thought : 0)
    if (isPossible && total === sum) return layout
  }
  return habitualLayout(counts, extras)
}

function habitualLayout(counts: BlockCounts, extras: ExtrasLayout): Layout {
  const { prompt, completion, total, cached, cacheWrite, thought } = counts
  const cacheOutside = extras === 'outside' && cached + cacheWrite > prompt
  const fits = thought <= completion
  const thoughtOutside = !fits || (extras === 'outside' && thought > 0)
  // A cache that is counted outside is not in the total either.
  const sum = prompt + completion + (thoughtOutside ? thought : 0)
  // Gemini's surface counts thinking in the total and names it nowhere; it is billed as output.
  const unnamed = Math.max(0, (total ?? 0) - sum - (cacheOutside ? cached + cacheWrite : 0))
  const isExplained = total === undefined || total === sum || (thought === 0 && unnamed > 0)
  const agrees = isExplained && (fits || extras === 'outside')
  return { cacheOutside, thoughtOutside, unnamed, agrees }
}

type PromptCounts = Pick<Usage, (typeof promptBuckets)[number]>
type CompletionCounts = Pick<Usage, (typeof completionBuckets)[number]>

/** The buckets of a prompt, in the order in which tokens beyond a limit are left out: the cheap ones stay. */
export const promptBuckets = [
  'cachedInput',
  'input',
  'cacheWrite',
  'cacheWriteLong',
  'imageInput',
  'audioInput',
] as const
/** The buckets of a completion. */
export const completionBuckets = ['output', 'reasoning', 'imageOutput', 'audioOutput'] as const

export const promptTokens = (of: PromptCounts) =>
  of.input + of.cachedInput + of.cacheWrite + of.cacheWriteLong + of.audioInput + of.imageInput
export const completionTokens = (of: CompletionCounts) =>
  of.output + of.reasoning + of.audioOutput + of.imageOutput

/** The `usage` object that a caller gets: prompt with its cached part, output with its reasoning. */
export function toUsageBlock(usage: Usage) {
  const { cachedInput, cacheWrite, cacheWriteLong, audioInput, imageInput } = usage
  const { reasoning, audioOutput, imageOutput } = usage
  const cacheWrites = cacheWrite + cacheWriteLong
  const prompt = promptTokens(usage)
  const completion = completionTokens(usage)
  const hasPromptDetails = cachedInput > 0 || cacheWrites > 0 || audioInput > 0 || imageInput > 0
  const hasCompletionDetails = reasoning > 0 || audioOutput > 0 || imageOutput > 0
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(hasPromptDetails ? { prompt_tokens_details: toPromptDetails(usage) } : undefined),
    ...(hasCompletionDetails
      ? { completion_tokens_details: toCompletionDetails(usage) }
      : undefined),
    ...(usage.searches > 0
      ? { server_tool_use: { web_search_requests: usage.searches } }
      : undefined),
  }
}

function toPromptDetails(usage: Usage) {
  const { cachedInput, cacheWrite, cacheWriteLong, audioInput, imageInput } = usage
  const cacheWrites = cacheWrite + cacheWriteLong
  return {
    cached_tokens: cachedInput,
    ...(cacheWrites > 0 && { cache_write_tokens: cacheWrites }),
    ...(cacheWriteLong > 0 && { cache_creation: { ephemeral_1h_input_tokens: cacheWriteLong } }),
    ...(audioInput > 0 && { audio_tokens: audioInput }),
    ...(imageInput > 0 && { image_tokens: imageInput }),
  }
}

const toCompletionDetails = ({ reasoning, audioOutput, imageOutput }: Usage) => ({
  reasoning_tokens: reasoning,
  ...(audioOutput > 0 && { audio_tokens: audioOutput }),
  ...(imageOutput > 0 && { image_tokens: imageOutput }),
})

/**
 * Returns Tollgate's usage block with the other fields of the provider's own block; a block that
 * contradicted itself is not repeated.
 */
export function toRelayedUsageBlock(usage: Usage, block: unknown): JsonObject {
  const ours = toUsageBlock(usage)
  if (!isObject(block) || usage.flawed) return ours
  const relayed: JsonObject = { ...block, ...ours }
  addDetails(relayed, 'prompt_tokens_details', block)
  addDetails(relayed, 'completion_tokens_details', block)
  return relayed
}

/** Adds the provider's detailed counts, which Tollgate's of the same name would otherwise replace. */
function addDetails(relayed: JsonObject, name: string, block: JsonObject): void {
  const theirs = child(block, name)
  const ours = relayed[name]
  if (theirs && theirs !== ours) relayed[name] = { ...theirs, ...child(relayed, name) }
}

/** The `usage` of an answer without completion, such as embeddings. */
export const toPromptUsageBlock = (usage: Usage) => ({
  prompt_tokens: promptTokens(usage),
  total_tokens: promptTokens(usage),
})
