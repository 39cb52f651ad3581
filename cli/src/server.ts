import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import createClient from 'openapi-fetch'
import { formatHostAndPort, toReachableHost } from '@tollgate/server/platform/config/address'
import type { paths } from '@tollgate/client/schema'

/** An invalid command line: one line, and exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The server rejected the call, or did not answer: one line, and exit code 1. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed'
}

type Environment = Readonly<Record<string, string | undefined>>

/** Returns the address of the server: as given, else by the server's own settings. */
export function addressOf(url: string | undefined, environment: Environment): string {
  const { BASE_URL, HOST, PORT } = environment
  const address =
    url || BASE_URL || `http://${formatHostAndPort(toReachableHost(HOST ?? ''), PORT || 8080)}`
  if (!/^https?:\/\/./.test(address) || !URL.canParse(address)) {
    throw new UsageError(`"${address}" is not an address such as http://127.0.0.1:8080.`)
  }
  return address.replace(/\/+$/, '')
}

/** Reads the operator key from the environment, else from the data directory. */
async function adminKey({ ADMIN_KEY, ADMIN_KEY_FILE, DATA_DIR }: Environment): Promise<string> {
  if (ADMIN_KEY) return ADMIN_KEY
  const path = ADMIN_KEY_FILE || join(DATA_DIR || './data', 'admin-key')
  const key = await readFile(path, 'utf8').catch(() => '')
  if (key.trim()) return key.trim()
  throw new UsageError(
    `There is no operator key: set ADMIN_KEY, or DATA_DIR to that of the server (${path} was tried).`,
  )
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

function toErrorText(status: number, body: unknown): string {
  const error = isObject(body) && isObject(body['error']) ? body['error'] : body
  const message = isObject(error) ? error['message'] : undefined
  return typeof message === 'string' ? message : `The server answered ${status}.`
}

const requestTimeoutMs = 120_000

const isLate = (thrown: unknown) => thrown instanceof Error && thrown.name === 'TimeoutError'

/** Reads the whole answer of the server at `address`. Rejects with `CallFailed`, also where it was cut off. */
async function answerOf(address: string, request: Request, timeoutMs: number) {
  const late = () => new CallFailed(`${address} did not answer in time.`)
  const init: RequestInit = { signal: AbortSignal.timeout(timeoutMs), redirect: 'error' }
  const response = await fetch(request, init).catch((thrown: unknown) => {
    if (isLate(thrown)) throw late()
    throw new CallFailed(
      `No Tollgate answers at ${address}. Start it, or name another with --url or BASE_URL.`,
    )
  })
  const text = await response.text().catch((thrown: unknown) => {
    throw isLate(thrown) ? late() : new CallFailed(`The answer of ${address} was cut off.`)
  })
  const isInLines = response.headers.get('content-type') === 'application/x-ndjson'
  return { status: response.status, isOk: response.ok, isInLines, text }
}

/** Parses an answer; undefined where it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Parses an answer in lines of JSON. Throws `CallFailed` where it is malformed. */
export function linesOf(text: string): unknown[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => {
    const value = parsed(line)
    if (isObject(value)) return value
    throw new CallFailed('The answer is malformed, or not from Tollgate.')
  })
}

/**
 * Creates a client for the operator endpoints of a server, typed by their OpenAPI description. Calls reject with
 * `CallFailed`, and time out after `timeoutMs`.
 */
export async function openOperator(
  url: string | undefined,
  environment: Environment,
  timeoutMs = requestTimeoutMs,
) {
  const address = addressOf(url, environment)
  const headers = { authorization: `Bearer ${await adminKey(environment)}` }
  const checkedFetch = async (request: Request) => {
    const { status, isOk, isInLines, text } = await answerOf(address, request, timeoutMs)
    const isRead = isInLines || parsed(text) !== undefined
    if (isOk && isRead) return new Response(text, { status })
    if (isOk) throw new CallFailed(`The answer of ${address} is malformed, or not from Tollgate.`)
    const hint = ' Check the id, and that the operator key is that of this server.'
    throw new CallFailed(toErrorText(status, parsed(text)) + (status === 404 ? hint : ''))
  }
  return createClient<paths>({ baseUrl: address, headers, fetch: checkedFetch })
}

export type Operator = Awaited<ReturnType<typeof openOperator>>

/** Returns the body of an answer. */
export async function bodyOf<Body>(answer: Promise<{ data?: Body }>): Promise<Body> {
  const { data } = await answer
  if (data === undefined) throw new CallFailed('The answer is empty.')
  return data
}
