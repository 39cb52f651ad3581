import { boundOf, checkUses, type HostedUses } from '../../wire/hosted-uses'
import { isObject, type JsonObject } from '../../wire/json-body'

/** Returns whether a tool is the web search that a price per search covers. */
export const isPricedSearch = (type: string): boolean => /^web_search_\d+$/.test(type)

/** Returns whether a tool fetches pages, which cost nothing but the tokens that are read. */
export const isFetch = (type: string): boolean => /^web_fetch_\d+$/.test(type)

const isBounded = ({ type }: JsonObject): boolean =>
  typeof type === 'string' && (isPricedSearch(type) || isFetch(type))

const toolsOf = ({ tools }: JsonObject): unknown[] => (Array.isArray(tools) ? tools : [])

const sumOf = (tools: readonly JsonObject[]): number =>
  tools.reduce((sum, { max_uses: uses }) => sum + boundOf(uses), 0)

/**
 * The maximum use of Anthropic's web tools in a request; undefined where it offers none of them. Throws `invalid_request`
 * for a bound above `maxUses`.
 */
export function hostedUsesIn(body: JsonObject): HostedUses | undefined {
  for (const [index, tool] of toolsOf(body).entries()) {
    if (isObject(tool) && isBounded(tool)) checkUses(tool['max_uses'], `tools.${index}.max_uses`)
  }
  const bounded = toolsOf(body).filter(isObject).filter(isBounded)
  if (bounded.length === 0) return undefined
  const searching = bounded.filter(({ type }) => isPricedSearch(String(type)))
  return { searches: sumOf(searching), rounds: sumOf(bounded) }
}

/** Returns the request with a bound on each of these tools; the same object where there are none. */
export function withBoundedUses(body: JsonObject): JsonObject {
  if (!hostedUsesIn(body)) return body
  const tools = toolsOf(body).map((tool) =>
    isObject(tool) && isBounded(tool) ? { ...tool, max_uses: boundOf(tool['max_uses']) } : tool,
  )
  return { ...body, tools }
}
