import { isObject, type JsonObject } from '../../wire/json-body'
import { noUsage, type Usage } from '../../wire/usage'
import { Counter } from '../../wire/usage-counts'

/**
 * Reads the counts of a message; undefined without any, and where one of the two is no number of tokens.
 * Cache reads and writes stand beside `input_tokens`, thinking is inside `output_tokens`. Source: contract 12.3.
 */
export function toUsage(counts: JsonObject): Usage | undefined {
  const counter = new Counter()
  const passes = passesOf(counts)
  const sum = (name: string) => {
    const passCounts = passes
      .map((pass) => counter.read(pass, name))
      .filter((count) => count !== undefined)
    return passCounts.length > 0 ? passCounts.reduce((total, count) => total + count, 0) : undefined
  }
  const input = sum('input_tokens')
  const output = sum('output_tokens')
  const thought = thoughtIn(counts, counter)
  if (counter.isFlawed || (input === undefined && output === undefined)) return undefined
  const cacheWrites = sum('cache_creation_input_tokens') ?? 0
  const ofLifetimes = passes.map(({ cache_creation: lifetime }) => lifetime).filter(isObject)
  const written1h = ofLifetimes.map(
    (lifetime) => counter.read(lifetime, 'ephemeral_1h_input_tokens') ?? 0,
  )
  const cacheWriteLong = Math.min(cacheWrites, sumOf(written1h))
  return {
    ...noUsage,
    input: input ?? 0,
    cachedInput: sum('cache_read_input_tokens') ?? 0,
    cacheWrite: cacheWrites - cacheWriteLong,
    cacheWriteLong,
    output: (output ?? 0) - Math.min(thought, output ?? 0),
    reasoning: Math.min(thought, output ?? 0),
    searches: searchesIn(counts, counter),
    flawed: counter.isFlawed || thought > (output ?? 0),
  }
}

/** Returns whether counts have this one; without it that side is unknown, not zero. */
export const hasCount = (counts: JsonObject, name: 'input_tokens' | 'output_tokens'): boolean =>
  passesOf(counts).some((pass) => pass[name] !== undefined && pass[name] !== null)

const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0)

/** Reads the thoughts within the output. */
function thoughtIn({ output_tokens_details: details }: JsonObject, counter: Counter): number {
  return isObject(details) ? (counter.read(details, 'thinking_tokens') ?? 0) : 0
}

/** Reads the searches of the message as a whole: passes do not name them. */
function searchesIn({ server_tool_use: tools }: JsonObject, counter: Counter): number {
  return isObject(tools) ? (counter.read(tools, 'web_search_requests') ?? 0) : 0
}

/**
 * A message may take several passes; those of an advisor are billed as another model's, and one that was
 * refused before any output, so that another model answered, is not billed.
 * @see https://docs.claude.com/en/build-with-claude/refusals-and-fallback
 */
function passesOf(counts: JsonObject): JsonObject[] {
  const iterations = Array.isArray(counts['iterations']) ? counts['iterations'] : []
  const passes = iterations.filter(isObject)
  const ownPasses = passes.filter(
    ({ type }) => typeof type !== 'string' || !type.startsWith('advisor'),
  )
  const fellBackAt = ownPasses.findLastIndex(({ type }) => type === 'fallback_message')
  const billedPasses = ownPasses.filter(
    ({ output_tokens: output }, position) => position >= fellBackAt || output !== 0,
  )
  return billedPasses.length > 0 ? billedPasses : [counts]
}
