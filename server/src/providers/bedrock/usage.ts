import { isObject, type JsonObject } from '../../wire/json-body'
import { noUsage, type Usage } from '../../wire/usage'
import { Counter } from '../../wire/usage-counts'

/**
 * Reads the `usage` of a `metadata` event: tokens read from a cache or written to one are outside
 * `inputTokens`, and inside the total. Source: contract 12.3.
 */
export function toUsage(block: unknown): Usage | undefined {
  if (!isObject(block)) return undefined
  const counter = new Counter()
  const input = counter.read(block, 'inputTokens')
  const output = counter.read(block, 'outputTokens')
  if (counter.isFlawed || (input === undefined && output === undefined)) return undefined
  const cachedInput = cacheCount('Read', block, counter)
  const cacheWrite = cacheCount('Write', block, counter)
  const plain = (input ?? 0) + (output ?? 0)
  const whole = plain + cachedInput + cacheWrite
  const total = counter.read(block, 'totalTokens')
  const agrees = total === undefined || total === whole || total === plain
  const writtenLong = Math.min(countHourWrites(block, counter), cacheWrite)
  return {
    ...noUsage,
    input: input ?? 0,
    cachedInput,
    cacheWrite: cacheWrite - writtenLong,
    cacheWriteLong: writtenLong,
    // The rest of the total is of unknown kind, so it is charged as output.
    output: (output ?? 0) + (agrees ? 0 : Math.max(0, (total ?? 0) - whole)),
    flawed: counter.isFlawed || !agrees,
  }
}

/** Reads a count of the cache under either of its names. */
const cacheCount = (kind: 'Read' | 'Write', block: JsonObject, counter: Counter): number =>
  counter.read(block, `cache${kind}InputTokens`) ??
  counter.read(block, `cache${kind}InputTokenCount`) ??
  0

/**
 * Reads the tokens written to the cache for an hour. Source: AWS, API reference of Bedrock, `CacheDetail`.
 */
function countHourWrites({ cacheDetails }: JsonObject, counter: Counter): number {
  if (!Array.isArray(cacheDetails)) return 0
  const longWrites = cacheDetails.filter(isObject).filter(({ ttl }) => ttl === '1h')
  return longWrites.reduce((sum, detail) => sum + (counter.read(detail, 'inputTokens') ?? 0), 0)
}
