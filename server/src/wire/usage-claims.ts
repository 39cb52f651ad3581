import { completionBuckets, completionTokens, promptTokens, type Usage } from './usage'

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
