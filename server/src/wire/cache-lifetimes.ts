import { isObject, type JsonObject } from './json-body'

interface CachePrices {
  cacheWrite?: unknown
  cacheWriteLong?: unknown
}

/**
 * Returns whether a price covers writing to a cache for an hour: it has a rate for that, or none for
 * writing.
 */
export const coversHour = ({ cacheWrite, cacheWriteLong }: CachePrices): boolean =>
  cacheWrite === undefined || cacheWriteLong !== undefined

/**
 * A request in either format without the hour of its cache breakpoints, which become those of five minutes, where
 * a price has no rate for an hour, which costs more. The same object where nothing is changed.
 */
export function withPricedCaches(body: JsonObject, prices: CachePrices): JsonObject {
  if (coversHour(prices)) return body
  return shortenLifetime(body, 0)
}

/** Messages, their parts, and parts of results: nothing that carries a breakpoint is deeper. */
const deepest = 4
const holders = ['system', 'tools', 'messages', 'content', 'tool_calls', 'function'] as const

function shortenLifetime(holder: JsonObject, depth: number): JsonObject {
  const changes: JsonObject = {}
  const { cache_control: control } = holder
  if (isObject(control) && control['ttl'] === '1h') changes['cache_control'] = withoutTtl(control)
  if (depth < deepest) {
    for (const name of holders) {
      const value = holder[name]
      const short = shortenLifetimes(value, depth + 1)
      if (short !== value) changes[name] = short
    }
  }
  return Object.keys(changes).length > 0 ? { ...holder, ...changes } : holder
}

function shortenLifetimes(value: unknown, depth: number): unknown {
  if (isObject(value)) return shortenLifetime(value, depth)
  if (!Array.isArray(value)) return value
  const short = value.map((item: unknown) => (isObject(item) ? shortenLifetime(item, depth) : item))
  return short.some((item, at) => item !== value[at]) ? short : value
}

function withoutTtl({ ttl: _ttl, ...control }: JsonObject): JsonObject {
  return control
}

/** The lifetime of OpenAI's caches, of which no price covers a longer one than the usual. */
export const cacheLifetimeField = 'prompt_cache_options.ttl'

const usualCacheLifetime = '30m'

/** Returns whether a request in a format of OpenAI's leaves the lifetime of its cache at the usual one. */
export function hasUsualCache({ prompt_cache_options: caching }: JsonObject): boolean {
  const ttl = isObject(caching) ? caching['ttl'] : undefined
  return ttl === undefined || ttl === null || ttl === usualCacheLifetime
}

/** Returns a request whose cache has the usual lifetime; the same object where it has. */
export function withUsualCache(body: JsonObject): JsonObject {
  const { prompt_cache_options: caching } = body
  if (!isObject(caching) || hasUsualCache(body)) return body
  return { ...body, prompt_cache_options: withoutTtl(caching) }
}
