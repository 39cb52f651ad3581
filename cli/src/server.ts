import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hc } from 'hono/client'
import type { OperatorApi } from '../../server/src/server/app/operator-endpoints'
import { hostAndPort, hostHere } from '../../server/src/platform/config/address'

/** An invalid command line: one line, and exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The server rejected the call, or did not answer: one line, and exit code 1. */
export class Refused extends Error {
  override readonly name = 'Refused'
}

type Environment = Readonly<Record<string, string | undefined>>

/** Returns the address of the server: as given, else by the server's own settings. */
export function addressOf(told: string | undefined, environment: Environment): string {
  const { BASE_URL, HOST, PORT } = environment
  const address = told || BASE_URL || `http://${hostAndPort(hostHere(HOST ?? ''), PORT || 8080)}`
  if (!/^https?:\/\/./.test(address) || !URL.canParse(address)) {
    throw new UsageError(`"${address}" is not an address such as http://127.0.0.1:8080.`)
  }
  return address.replace(/\/+$/, '')
}

/** Reads the operator key from the environment, else from the data directory. */
async function adminKey({ ADMIN_KEY, DATA_DIR }: Environment): Promise<string> {
  if (ADMIN_KEY) return ADMIN_KEY
  const path = join(DATA_DIR || './data', 'admin-key')
  const key = await readFile(path, 'utf8').catch(() => '')
  if (key.trim()) return key.trim()
  throw new UsageError(
    `There is no operator key: set ADMIN_KEY, or DATA_DIR to that of the server (${path} was tried).`,
  )
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

function wordsOf(status: number, body: unknown): string {
  const told = isObject(body) && isObject(body['error']) ? body['error'] : body
  const message = isObject(told) ? told['message'] : undefined
  return typeof message === 'string' ? message : `The server answered ${status}.`
}

const patienceMs = 120_000

const isLate = (thrown: unknown) => thrown instanceof Error && thrown.name === 'TimeoutError'

/** Reads the whole answer of the server at `address`. Rejects with `Refused`, also where it was cut off. */
async function answerOf(address: string, input: string | URL | Request, init: RequestInit) {
  const late = () => new Refused(`${address} did not answer in time.`)
  const response = await fetch(input, init).catch((thrown: unknown) => {
    if (isLate(thrown)) throw late()
    throw new Refused(
      `No Tollgate answers at ${address}. Start it, or name another with --url or BASE_URL.`,
    )
  })
  const text = await response.text().catch((thrown: unknown) => {
    throw isLate(thrown) ? late() : new Refused(`The answer of ${address} was cut off.`)
  })
  const isInLines = response.headers.get('content-type') === 'application/x-ndjson'
  return { status: response.status, isGood: response.ok, isInLines, text }
}

/** Parses an answer; undefined where it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Parses an answer in lines of JSON. Throws `Refused` where it is malformed. */
export function linesOf(text: string): unknown[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => {
    const value = parsed(line)
    if (isObject(value)) return value
    throw new Refused('The answer is malformed, or not from Tollgate.')
  })
}

/**
 * Creates a client for the operator endpoints of a server, typed by its routes. Calls reject with `Refused`, and
 * time out after `patience` ms, unless the call has its own signal.
 */
export async function openOperator(
  told: string | undefined,
  environment: Environment,
  patience = patienceMs,
) {
  const address = addressOf(told, environment)
  const authorization = `Bearer ${await adminKey(environment)}`
  const ask = async (input: string | URL | Request, init?: RequestInit) => {
    const headers = new Headers(init?.headers)
    headers.set('authorization', authorization)
    const signal = init?.signal ?? AbortSignal.timeout(patience)
    const asked: RequestInit = { ...init, headers, signal, redirect: 'error' }
    const { status, isGood, isInLines, text } = await answerOf(address, input, asked)
    const isRead = isInLines || parsed(text) !== undefined
    if (isGood && isRead) return new Response(text, { status })
    if (isGood) throw new Refused(`The answer of ${address} is malformed, or not from Tollgate.`)
    const hint = ' Check the id, and that the operator key is that of this server.'
    throw new Refused(wordsOf(status, parsed(text)) + (status === 404 ? hint : ''))
  }
  return hc<OperatorApi>(address, { fetch: ask }).api.admin
}

export type Operator = Awaited<ReturnType<typeof openOperator>>

/** Wraps the body of a request, for the second argument of a call. */
export const json = (body: object) => ({
  init: { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
})
