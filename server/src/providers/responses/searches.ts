import { isObject, type JsonObject, toObjects } from '../../wire/json-body'
import { Counter } from '../../wire/usage-counts'

/**
 * Whether an item of the output is a web search that is billed: a page that is opened or read is none.
 * @see https://platform.openai.com/docs/guides/tools-web-search#output-and-citations
 */
export function isBilledSearch({ type, status, action }: JsonObject): boolean {
  if (type !== 'web_search_call' || status === 'failed') return false
  const kind = isObject(action) ? action['type'] : undefined
  return kind === undefined || kind === 'search'
}

/** The web searches of a Response that are billed: as it counts them itself, else by its items, or those `counted`. */
export function searchesIn({ tool_usage: tools, output }: JsonObject, counted = 0): number {
  const web = isObject(tools) ? tools['web_search'] : undefined
  const reported = isObject(web) ? new Counter().read(web, 'num_requests') : undefined
  return reported ?? Math.max(counted, toObjects(output).filter(isBilledSearch).length)
}
