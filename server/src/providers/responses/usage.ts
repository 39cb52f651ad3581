import { isObject, type JsonObject } from '../../wire/json-body'
import { completionTokens, promptTokens, readUsage, type Usage } from '../../wire/usage'
import { findMissing, withEstimated } from '../../wire/usage-claims'

/** Reads the usage of a Response: the counts of chat under other names, all inside the totals. */
export function toUsage(block: unknown): Usage | undefined {
  const counts = toChatCounts(block)
  return counts && readUsage(counts, 'inside')
}

/** The counts of a Response in the names of chat; undefined for none. */
export function toChatCounts(block: unknown): JsonObject | undefined {
  if (!isObject(block)) return undefined
  return {
    prompt_tokens: block['input_tokens'],
    completion_tokens: block['output_tokens'],
    total_tokens: block['total_tokens'],
    prompt_tokens_details: block['input_tokens_details'],
    completion_tokens_details: block['output_tokens_details'],
  }
}

/** Returns a usage with an estimate of the side that a Response does not count. */
export function withMissing(usage: Usage, block: unknown, estimate: () => Usage): Usage {
  if (promptTokens(usage) > 0 && completionTokens(usage) > 0) return usage
  const missingSides = findMissing(usage, toChatCounts(block))
  return missingSides ? withEstimated(usage, missingSides, estimate()) : usage
}
