import { isObject, type JsonObject } from '../../wire/json-body'

const isSearch = ({ type }: JsonObject): boolean =>
  typeof type === 'string' && /^web_search_\d+$/.test(type)

/** How often a tool that names no bound may be used where searches are held by our price. */
const usualUses = 5

const usesOf = ({ max_uses: uses }: JsonObject): number =>
  Number.isSafeInteger(uses) && Number(uses) > 0 ? Number(uses) : usualUses

const toolsOf = ({ tools }: JsonObject): unknown[] => (Array.isArray(tools) ? tools : [])

/** The web searches that a request for a message may make Anthropic run, at most. */
export const searchesIn = (body: JsonObject): number =>
  toolsOf(body)
    .filter(isObject)
    .filter(isSearch)
    .reduce((sum, tool) => sum + usesOf(tool), 0)

/** The same request with a bound on each of its searches; the same object where there are none. */
export function withBoundedSearches(body: JsonObject): JsonObject {
  if (searchesIn(body) === 0) return body
  const tools = toolsOf(body).map((tool) =>
    isObject(tool) && isSearch(tool) ? { ...tool, max_uses: usesOf(tool) } : tool,
  )
  return { ...body, tools }
}

/** Whether a tool is the search that a price per search pays for. */
export const isPricedSearch = (type: string): boolean => isSearch({ type })
