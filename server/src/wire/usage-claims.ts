import { isObject } from './json-body'
import { completionBuckets, completionTokens, promptTokens, type Usage } from './usage'
import { parseUsd } from './usd'

/**
 * Returns the larger of two counts of one answer, of its prompt and its output each by itself: a provider
 * may count again while it writes, and report less of one side the second time. Of equal sides the later
 * one counts, as it may name more. One that became less contradicts the other: `flawed`.
 */
export function maxUsage(earlier: Usage, later: Usage): Usage {
  const [prompt, output] = [
    promptTokens(later) < promptTokens(earlier) ? earlier : later,
    completionTokens(later) < completionTokens(earlier) ? earlier : later,
  ]
  if (prompt === later && output === later) return later
  return {
    input: prompt.input,
    cachedInput: prompt.cachedInput,
    ...(prompt.cachedAudio && { cachedAudio: prompt.cachedAudio }),
    cacheWrite: prompt.cacheWrite,
    cacheWriteLong: prompt.cacheWriteLong,
    audioInput: prompt.audioInput,
    imageInput: prompt.imageInput,
    output: output.output,
    reasoning: output.reasoning,
    audioOutput: output.audioOutput,
    imageOutput: output.imageOutput,
    searches: Math.max(earlier.searches, later.searches),
    servedTier: later.servedTier ?? earlier.servedTier,
    estimated: earlier.estimated || later.estimated,
    flawed: true,
  }
}

/** A usage with that many tokens of output at most; `flawed` where its provider counted more. */
export function withBoundedOutput(usage: Usage, maxTokens: number): Usage {
  if (completionTokens(usage) <= maxTokens) return usage
  const limited = { ...usage, flawed: usage.flawed || !usage.estimated }
  let room = maxTokens
  for (const bucket of completionBuckets) {
    limited[bucket] = Math.min(usage[bucket], room)
    room -= limited[bucket]
  }
  return limited
}

/** The sides of an answer that its provider did not count. */
export interface MissingSides {
  prompt?: boolean
  output?: boolean
}

const isAbsent = (count: unknown) => count === undefined || count === null

/**
 * Returns the sides of a usage that nothing counted: its last block, in the names of chat, neither has that side nor
 * a total that it is part of. Undefined for none, as in nearly all answers.
 */
export function findMissing(usage: Usage, block: unknown): MissingSides | undefined {
  const hasPrompt = promptTokens(usage) > 0
  const hasOutput = completionTokens(usage) > 0
  if ((hasPrompt && hasOutput) || !isObject(block) || !isAbsent(block['total_tokens'])) {
    return undefined
  }
  const prompt = !hasPrompt && isAbsent(block['prompt_tokens'])
  const output = !hasOutput && isAbsent(block['completion_tokens'])
  return prompt || output ? { prompt, output } : undefined
}

/**
 * Returns a usage with the sides that its provider did not count, out of an estimate. The parts of such a side that it
 * did count, such as the tokens of its cache, are within the estimate, and are not charged a second time.
 */
export function withEstimated(
  usage: Usage,
  { prompt, output }: MissingSides,
  estimated: Usage,
): Usage {
  const readElsewhere = promptTokens({ ...usage, input: 0 })
  const wroteElsewhere = completionTokens({ ...usage, output: 0 })
  return {
    ...usage,
    ...(prompt && { input: Math.max(0, promptTokens(estimated) - readElsewhere) }),
    ...(output && { output: Math.max(0, completionTokens(estimated) - wroteElsewhere) }),
    estimated: true,
  }
}

/** The highest fee of one request that is read, in USD; a higher one is no fee. */
const maxFeeUsd = 1000

/** Reads the fee that a usage block states for the request itself; undefined where it states none. */
export function readRequestFee(block: unknown): bigint | undefined {
  const cost = isObject(block) ? block['cost'] : undefined
  const fee = isObject(cost) ? cost['request_cost'] : undefined
  return typeof fee === 'number' && fee >= 0 && fee <= maxFeeUsd ? parseUsd(fee) : undefined
}
