import { rejectRemote } from './rejections'
import { isObject, type JsonObject } from '../wire/json-body'

/** Nothing that names an image or a file is deeper. */
const deepest = 8

/** Fields whose content callers and models choose freely: it is text to a server. */
const free: ReadonlySet<string> = new Set([
  'arguments',
  'parameters',
  'input_schema',
  'schema',
  'json_schema',
])

const isRemote = (url: unknown): boolean => typeof url === 'string' && !/^data:/i.test(url)

/** Returns whether the data of a file is an address: its content may stand there without a scheme. */
export const isAddress = (data: unknown): data is string =>
  typeof data === 'string' && /^[a-z][a-z0-9+.-]{0,20}:\/\//i.test(data)

/** The values that a server may take for an address, by the field that holds them. */
const readers: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  image_url: (value) => toAddressField(value),
  video_url: (value) => toAddressField(value),
  audio_url: (value) => toAddressField(value),
  source: (value) => (isObject(value) && isRemote(value['url']) ? '.url' : undefined),
  image: (value) => (isAddress(value) ? '' : undefined),
  file_url: (value) => (value && isRemote(value) ? '' : undefined),
  file: (value) => findInFile(value),
  server_url: (value) => (value && isRemote(value) ? '' : undefined),
}

function toAddressField(value: unknown): string | undefined {
  if (isObject(value)) return isRemote(value['url']) ? '.url' : undefined
  return isRemote(value) ? '' : undefined
}

function findInFile(file: unknown): string | undefined {
  if (!isObject(file)) return undefined
  if (file['file_url'] && isRemote(file['file_url'])) return '.file_url'
  const name = ['file_data', 'file_id'].find((field) => isAddress(file[field]))
  return name && `.${name}`
}

/** The addresses that Tollgate has fetched itself, by whatever it keeps of them. */
type Fetched = ReadonlyMap<string, unknown>

/**
 * Finds the first address below a value that its receiver would fetch: returns the path of its field from there, which is
 * written only where there is one; undefined without one.
 */
function findRemote(value: unknown, fetched: Fetched, depth: number): string | undefined {
  if (depth > deepest) return undefined
  if (!Array.isArray(value)) {
    return isObject(value) ? findInFields(value, fetched, depth + 1) : undefined
  }
  for (let at = 0; at < value.length; at++) {
    const path = findRemote(value[at], fetched, depth + 1)
    if (path !== undefined) return `.${at}${path}`
  }
  return undefined
}

function findInFields(holder: JsonObject, fetched: Fetched, depth: number): string | undefined {
  const isCall = holder['type'] === 'tool_use' || holder['type'] === 'server_tool_use'
  for (const name in holder) {
    if (free.has(name) || (isCall && name === 'input')) continue
    const field = Object.hasOwn(readers, name) ? readers[name]?.(holder[name]) : undefined
    if (field !== undefined && !isFetched(holder[name], fetched)) return `.${name}${field}`
    const path = findRemote(holder[name], fetched, depth)
    if (path !== undefined) return `.${name}${path}`
  }
  return undefined
}

const isFetched = (holder: unknown, fetched: Fetched): boolean =>
  isObject(holder) && typeof holder['url'] === 'string' && fetched.has(holder['url'])

const places = ['messages', 'system', 'input', 'inputs', 'tools', 'mcp_servers'] as const
const nothing: Fetched = new Map()

/**
 * Throws `invalid_request` where a chat, or a request in Anthropic's or OpenAI's own format, names an address that the
 * server would fetch which gets it: a server in the operator's network reaches what its callers do not. `fetched` are
 * fetched by Tollgate instead.
 */
export function rejectRemoteUrls(body: JsonObject, fetched: Fetched = nothing): void {
  for (const place of places) {
    const value = body[place]
    if (typeof value !== 'object' || value === null) continue
    const isServers = place === 'mcp_servers' && Array.isArray(value) && value.length > 0
    const path = isServers ? '' : findRemote(value, fetched, 0)
    if (path !== undefined) throw rejectRemote(`${place}${path}`)
  }
}
