import { isObject, type JsonObject } from './json-body'

/**
 * Tokens of one answer in buckets that do not overlap: `input` and `output` are text that is neither
 * cached nor thought nor sound. `flawed` says that the provider's numbers contradicted each other or
 * were no numbers; `estimated`, that the provider gave none.
 */
export interface Usage {
  input: number
  cachedInput: number
  cacheWrite: number
  audioInput: number
  output: number
  reasoning: number
  audioOutput: number
  estimated: boolean
  flawed: boolean
}

export const noUsage: Usage = {
  input: 0,
  cachedInput: 0,
  cacheWrite: 0,
  audioInput: 0,
  output: 0,
  reasoning: 0,
  audioOutput: 0,
  estimated: false,
  flawed: false,
}

/**
 * Where a provider counts what OpenAI counts inside: `outside` adds reasoning to the completion, and
 * to the prompt what was read from a cache if that is more than the prompt. Source: wire.md 7.3.
 */
export type Extras = 'inside' | 'outside'

const mostTokens = 1_000_000_000

/** Zero is zero, absent is absent; negative, fractional, textual or absurd numbers are flaws. */
export class Counter {
  /** Something that was read is no number of tokens. */
  isFlawed = false

  read(source: JsonObject, name: string): number | undefined {
    const value = source[name]
    if (value === undefined || value === null) return undefined
    if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= mostTokens) {
      return Number(value)
    }
    this.isFlawed = true
    return undefined
  }
}

const nothing: JsonObject = {}

const child = (parent: JsonObject, name: string) => {
  const value = parent[name]
  return isObject(value) ? value : undefined
}

/** The counts of one block, before it is decided which of them hold the others. */
interface Counts {
  prompt: number
  completion: number
  total: number | undefined
  cached: number
  written: number
  heard: number
  thought: number
  spoken: number
  flawed: boolean
}

/**
 * The usage block of a provider that speaks the OpenAI format; undefined when it says nothing, or counts
 * its prompt or its completion by what is no whole number: then both are estimated. `extras` decides only where the numbers do not. Source: wire.md 7.3.
 */
export function readUsage(block: unknown, extras: Extras): Usage | undefined {
  const counts = isObject(block) ? countsOf(block) : undefined
  if (!counts) return undefined
  const { prompt, completion, cached, written, heard, thought, spoken } = counts
  const { cacheOutside, thoughtOutside, unnamed, agrees } = layoutOf(counts, extras)
  // More in the cache than in a prompt that holds it: no more than the prompt is believed.
  const fits = cacheOutside || cached + written <= prompt
  const text = cacheOutside ? prompt : Math.max(0, prompt - cached - written)
  const said = thoughtOutside ? completion : completion - thought
  const audioInput = Math.min(heard, text)
  const audioOutput = Math.min(spoken, said)
  // Sound read from a cache is in both counts, so only more than the whole is a contradiction.
  const isTooLoud = heard > prompt || spoken > completion
  return {
    input: text - audioInput,
    cachedInput: fits ? cached : prompt,
    cacheWrite: fits ? written : 0,
    audioInput,
    output: said - audioOutput,
    reasoning: thought + unnamed,
    audioOutput,
    estimated: false,
    flawed: counts.flawed || !agrees || !fits || isTooLoud,
  }
}

function countsOf(block: JsonObject): Counts | undefined {
  const counter = new Counter()
  const ofPrompt = counter.read(block, 'prompt_tokens')
  const ofCompletion = counter.read(block, 'completion_tokens')
  // A count that is no number says nothing, and what the other or a total says of it is a guess.
  if (counter.isFlawed) return undefined
  const total = counter.read(block, 'total_tokens')
  if (total === undefined && ofPrompt === undefined && ofCompletion === undefined) return undefined
  // Embedding providers may give only the total; whichever count is missing is the rest of it.
  const prompt = ofPrompt ?? Math.max(0, (total ?? 0) - (ofCompletion ?? 0))
  const completion = ofCompletion ?? Math.max(0, (total ?? 0) - prompt)

  const promptDetails =
    child(block, 'prompt_tokens_details') ?? child(block, 'prompt_token_details') ?? nothing
  const completionDetails = child(block, 'completion_tokens_details') ?? nothing
  return {
    prompt,
    completion,
    total,
    cached: cachedIn(promptDetails, block, counter),
    written: writtenIn(promptDetails, block, counter),
    heard: counter.read(promptDetails, 'audio_tokens') ?? 0,
    thought: thoughtIn(completionDetails, block, counter),
    spoken: counter.read(completionDetails, 'audio_tokens') ?? 0,
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

const thoughtIn = (details: JsonObject, block: JsonObject, counter: Counter): number =>
  counter.read(details, 'reasoning_tokens') ?? counter.read(block, 'reasoning_tokens') ?? 0

/** What stands beside the prompt and the completion, and tokens that only the total counts. */
interface Layout {
  cacheOutside: boolean
  thoughtOutside: boolean
  unnamed: number
  agrees: boolean
}

/** In the order in which they are tried. */
const agreeingLayouts: readonly Layout[] = [
  { cacheOutside: false, thoughtOutside: false, unnamed: 0, agrees: true },
  { cacheOutside: false, thoughtOutside: true, unnamed: 0, agrees: true },
  { cacheOutside: true, thoughtOutside: false, unnamed: 0, agrees: true },
  { cacheOutside: true, thoughtOutside: true, unnamed: 0, agrees: true },
]

/** The reading of which the provider's total is the sum; where there is none, its habit decides. */
function layoutOf(counts: Counts, extras: Extras): Layout {
  const { prompt, completion, total, cached, written, thought } = counts
  const stored = cached + written
  for (const layout of agreeingLayouts) {
    const { cacheOutside, thoughtOutside } = layout
    const isPossible =
      (cacheOutside || stored <= prompt) && (thoughtOutside || thought <= completion)
    const sum = prompt + completion + (cacheOutside ? stored : 0) + (thoughtOutside ? thought : 0)
    if (isPossible && total === sum) return layout
  }
  return habitualLayout(counts, extras)
}

function habitualLayout(counts: Counts, extras: Extras): Layout {
  const { prompt, completion, total, cached, written, thought } = counts
  const cacheOutside = extras === 'outside' && cached + written > prompt
  const fits = thought <= completion
  const thoughtOutside = !fits || (extras === 'outside' && thought > 0)
  // A cache that is counted outside is not in the total either.
  const sum = prompt + completion + (thoughtOutside ? thought : 0)
  // Gemini's surface counts thinking in the total and names it nowhere; it is billed as output.
  const unnamed = Math.max(0, (total ?? 0) - sum - (cacheOutside ? cached + written : 0))
  const isExplained = total === undefined || total === sum || (thought === 0 && unnamed > 0)
  const agrees = isExplained && (fits || extras === 'outside')
  return { cacheOutside, thoughtOutside, unnamed, agrees }
}

export const promptTokens = ({ input, cachedInput, cacheWrite, audioInput }: Usage) =>
  input + cachedInput + cacheWrite + audioInput
export const completionTokens = ({ output, reasoning, audioOutput }: Usage) =>
  output + reasoning + audioOutput

/** The `usage` object that a caller gets: prompt with its cached part, output with its reasoning. */
export function toUsageBlock(usage: Usage) {
  const { cachedInput, cacheWrite, audioInput, reasoning, audioOutput } = usage
  const prompt = promptTokens(usage)
  const completion = completionTokens(usage)
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...((cachedInput > 0 || cacheWrite > 0 || audioInput > 0) && {
      prompt_tokens_details: {
        cached_tokens: cachedInput,
        ...(cacheWrite > 0 && { cache_write_tokens: cacheWrite }),
        ...(audioInput > 0 && { audio_tokens: audioInput }),
      },
    }),
    ...((reasoning > 0 || audioOutput > 0) && {
      completion_tokens_details: {
        reasoning_tokens: reasoning,
        ...(audioOutput > 0 && { audio_tokens: audioOutput }),
      },
    }),
  }
}

/**
 * The same, beside whatever else the provider's own block said; a block that contradicted itself
 * is not repeated.
 */
export function toRelayedUsageBlock(usage: Usage, block: unknown): JsonObject {
  const ours = toUsageBlock(usage)
  if (!isObject(block) || usage.flawed) return ours
  const relayed: JsonObject = { ...block, ...ours }
  addDetails(relayed, 'prompt_tokens_details', block)
  addDetails(relayed, 'completion_tokens_details', block)
  return relayed
}

/** What the provider said in detail, where ours says something too and would stand in its place. */
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

/** The sum of the usages of several upstream answers to one request. */
export const addUsage = (a: Usage, b: Usage): Usage => ({
  input: a.input + b.input,
  cachedInput: a.cachedInput + b.cachedInput,
  cacheWrite: a.cacheWrite + b.cacheWrite,
  audioInput: a.audioInput + b.audioInput,
  output: a.output + b.output,
  reasoning: a.reasoning + b.reasoning,
  audioOutput: a.audioOutput + b.audioOutput,
  estimated: a.estimated || b.estimated,
  flawed: a.flawed || b.flawed,
})
