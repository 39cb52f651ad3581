import { isObject, type JsonObject } from './json-body'

/**
 * A breakpoint of a prompt cache: the prompt up to and including the object that carries it may be cached.
 */
export interface CacheControl extends JsonObject {
  type: 'ephemeral'
  /** The lifetime of the cached prompt; five minutes where it is absent. */
  ttl?: '5m' | '1h'
}

/**
 * The breakpoint that a text, part, call or tool carries: Anthropic's `cache_control`, or OpenAI's
 * `prompt_cache_breakpoint`, which has the same meaning without a lifetime of its own.
 */
export function readCacheControl(holder: JsonObject): CacheControl | undefined {
  const control = holder['cache_control']
  if (isObject(control)) return toCacheControl(control)
  return isObject(holder['prompt_cache_breakpoint']) ? { type: 'ephemeral' } : undefined
}

/** Reads the breakpoint of a tool, which some clients place inside its `function`. */
export function readToolCacheControl(tool: JsonObject): CacheControl | undefined {
  const { function: definition } = tool
  return readCacheControl(tool) ?? (isObject(definition) ? readCacheControl(definition) : undefined)
}

/** The last breakpoint that a message carries, or one of its parts. */
export function readLastCacheControl(message: JsonObject): CacheControl | undefined {
  const { content } = message
  const messageControl = readCacheControl(message)
  if (messageControl || !Array.isArray(content)) return messageControl
  for (const part of content.toReversed()) {
    const control = isObject(part) ? readCacheControl(part) : undefined
    if (control) return control
  }
  return undefined
}

/** Other lifetimes and fields that only newer models have are left out: an unknown one is a 400. */
const toCacheControl = ({ ttl }: JsonObject): CacheControl =>
  ttl === '1h' || ttl === '5m' ? { type: 'ephemeral', ttl } : { type: 'ephemeral' }

const isLong = ({ ttl }: CacheControl) => ttl === '1h'

/**
 * Fits the breakpoints of a request, in the order of its prompt, to a provider that takes `max`: the last
 * ones stay, as each covers all before it. A breakpoint of an hour behind one of five minutes would be
 * rejected, and becomes one of five minutes.
 */
export function fitBreakpoints(
  breakpoints: readonly CacheControl[],
  max: number,
): (CacheControl | undefined)[] {
  const dropped = Math.max(0, breakpoints.length - max)
  let isShort = false
  return breakpoints.map((control, position) => {
    if (position < dropped) return undefined
    isShort ||= !isLong(control)
    return isShort && isLong(control) ? { type: 'ephemeral' } : control
  })
}

/** Breakpoints that Anthropic, Bedrock and Alibaba take in one request; more are rejected. */
export const maxBreakpoints = 4
