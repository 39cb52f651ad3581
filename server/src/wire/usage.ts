import { isObject, type JsonObject } from './json-body'

/**
 * Tokens of one answer in buckets that do not overlap. `flawed` says that the provider's numbers
 * contradicted each other or were no numbers; `estimated`, that the provider gave none.
 */
export interface Usage {
  input: number
  cachedInput: number
  cacheWrite: number
  output: number
  reasoning: number
  estimated: boolean
  flawed: boolean
}

const mostTokens = 1_000_000_000

/** Zero is zero, absent is absent; negative, fractional, textual or absurd numbers are flaws. */
function counter(source: JsonObject | undefined) {
  let flawed = false
  const read = (...names: string[]): number | undefined => {
    for (const name of names) {
      const value = source?.[name]
      if (value === undefined || value === null) continue
      if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= mostTokens) {
        return Number(value)
      }
      flawed = true
    }
    return undefined
  }
  return { read, isFlawed: () => flawed }
}

const child = (parent: JsonObject, name: string) => {
  const value = parent[name]
  return isObject(value) ? value : undefined
}

/**
 * The usage block of a provider that speaks the OpenAI format; undefined when it says nothing.
 * `reasoning` decides only where the numbers do not. Source: wire.md 7.3.
 */
export function readUsage(block: unknown, reasoning: 'inside' | 'outside'): Usage | undefined {
  if (!isObject(block)) return undefined
  const top = counter(block)
  const total = top.read('total_tokens')
  const completion = top.read('completion_tokens')
  // Embedding providers may give only the total.
  const prompt = top.read('prompt_tokens') ?? (completion === undefined ? total : undefined)
  if (prompt === undefined && completion === undefined) return undefined

  const input = readInput(block, prompt ?? 0)
  const output = readOutput(
    block,
    { prompt: prompt ?? 0, completion: completion ?? 0, total },
    reasoning,
  )
  const flawed = top.isFlawed() || input.flawed || output.flawed
  return { ...input, ...output, estimated: false, flawed }
}

function readInput(block: JsonObject, prompt: number) {
  const top = counter(block)
  const details = counter(
    child(block, 'prompt_tokens_details') ?? child(block, 'prompt_token_details'),
  )
  const cached =
    details.read('cached_tokens') ??
    top.read('cached_tokens', 'prompt_cache_hit_tokens', 'num_cached_tokens') ??
    0
  const written = details.read('cache_write_tokens', 'cache_creation_input_tokens') ?? 0
  const fits = cached + written <= prompt
  return {
    input: fits ? prompt - cached - written : 0,
    cachedInput: fits ? cached : prompt,
    cacheWrite: fits ? written : 0,
    flawed: !fits || details.isFlawed() || top.isFlawed(),
  }
}

interface Totals {
  prompt: number
  completion: number
  total: number | undefined
}

function readOutput(block: JsonObject, totals: Totals, fallback: 'inside' | 'outside') {
  const details = counter(child(block, 'completion_tokens_details'))
  const thought = details.read('reasoning_tokens') ?? counter(block).read('reasoning_tokens') ?? 0
  const { completion } = totals
  if (isOutside(thought, totals, fallback)) {
    return { output: completion, reasoning: thought, flawed: details.isFlawed() }
  }
  const fits = thought <= completion
  return {
    output: fits ? completion - thought : 0,
    reasoning: fits ? thought : completion,
    flawed: !fits || details.isFlawed(),
  }
}

function isOutside(thought: number, totals: Totals, fallback: 'inside' | 'outside'): boolean {
  const { prompt, completion, total } = totals
  if (thought === 0 || total === prompt + completion) return false
  return total === prompt + completion + thought || fallback === 'outside'
}

export const promptTokens = ({ input, cachedInput, cacheWrite }: Usage) =>
  input + cachedInput + cacheWrite
export const completionTokens = ({ output, reasoning }: Usage) => output + reasoning

/** The `usage` object that a caller gets: prompt with its cached part, output with its reasoning. */
export function toUsageBlock(usage: Usage) {
  const prompt = promptTokens(usage)
  const completion = completionTokens(usage)
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...((usage.cachedInput > 0 || usage.cacheWrite > 0) && {
      prompt_tokens_details: {
        cached_tokens: usage.cachedInput,
        ...(usage.cacheWrite > 0 && { cache_write_tokens: usage.cacheWrite }),
      },
    }),
    ...(usage.reasoning > 0 && {
      completion_tokens_details: { reasoning_tokens: usage.reasoning },
    }),
  }
}

/** The same, beside whatever else the provider's own block said. */
export function toRelayedUsageBlock(usage: Usage, block: unknown) {
  const own = isObject(block) ? block : {}
  const ours = toUsageBlock(usage)
  return {
    ...own,
    ...ours,
    ...mergedDetails('prompt_tokens_details', own, ours.prompt_tokens_details),
    ...mergedDetails('completion_tokens_details', own, ours.completion_tokens_details),
  }
}

function mergedDetails(name: string, own: JsonObject, ours: object | undefined) {
  const theirs = child(own, name)
  return theirs || ours ? { [name]: { ...theirs, ...ours } } : undefined
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
  output: a.output + b.output,
  reasoning: a.reasoning + b.reasoning,
  estimated: a.estimated || b.estimated,
  flawed: a.flawed || b.flawed,
})
