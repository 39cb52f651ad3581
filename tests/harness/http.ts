import { openRaw, rawRequest, type RawClient } from './raw-client'
import type { Customer, Gateway, Rig } from './server'
import { recordFigure } from '../../server/testing/figures'

export type Json = Record<string, unknown>

/** The `error` of an answer or of a stream's last frame; empty where there was none. */
export interface Failure {
  type?: string
  code?: string
  message?: string
  param?: string | null
  details?: Json
  request_id?: string
}

/** An answer that was read to its end. */
export interface Answer {
  status: number
  headers: Headers
  text: string
  /** The parsed body, `{}` where it is no JSON object. */
  body: Json
  error: Failure
  tookMs: number
}

/** The fields of a form: texts, files, and lists of them, whose names end in brackets. */
export type FormFields = Readonly<Record<string, string | File | readonly (string | File)[] | null>>

export function toForm(fields: FormFields): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    if (value === null) continue
    for (const one of Array.isArray(value) ? value : [value]) form.append(name, one)
  }
  return form
}

export interface RequestOptions {
  path?: string
  method?: string
  key?: string
  headers?: Record<string, string>
  /** A string goes out as it is. */
  body?: Json | string
  /** A form in place of a body. */
  form?: FormFields
  signal?: AbortSignal
}

export const messages = [{ role: 'user', content: 'Say something.' }]

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** JSON text as an object, `{}` for anything else. */
export function parsed(text: string): Json {
  try {
    const value: unknown = JSON.parse(text)
    return isJson(value) ? value : {}
  } catch {
    return {}
  }
}

/** Asks a gateway through its recorder. Without `path`: a chat completion. */
export function request(gateway: Gateway, options: RequestOptions): Promise<Response> {
  const { path = '/v1/chat/completions', method = 'POST', key, headers = {}, body } = options
  return gateway.recorder.fetch(`${gateway.url}${path}`, {
    method,
    headers: {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(options.form && { body: toForm(options.form) }),
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(options.signal && { signal: options.signal }),
  })
}

/** The same, read to the end. */
export async function sendRequest(gateway: Gateway, options: RequestOptions): Promise<Answer> {
  const startedAt = performance.now()
  const response = await request(gateway, options)
  const text = await response.text()
  const body = parsed(text)
  const { status, headers } = response
  const tookMs = performance.now() - startedAt
  return { status, headers, text, body, error: isJson(body['error']) ? body['error'] : {}, tookMs }
}

/** Sends a request on a connection of its own, to be read, or left, as the test likes. */
export async function sendRaw(gateway: Gateway, options: RequestOptions): Promise<RawClient> {
  const { path = '/v1/chat/completions', method = 'POST', key, body = '' } = options
  const client = await openRaw(gateway.url)
  const headers = {
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(body !== '' && { 'content-type': 'application/json' }),
    ...options.headers,
  }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  await client.send(rawRequest({ method, path, headers, body: text }))
  return client
}

/**
 * Asks for something that takes no time: once that is answered, the gateway has read what reached it before, such as the
 * end of a connection.
 */
export async function untilNoticed({ url }: Pick<Gateway, 'url'>): Promise<void> {
  const { status } = await fetch(`${url}/healthz`)
  if (status !== 200) throw new Error(`the gateway answered ${status}`)
}

/**
 * Runs `work`, and counts the minutes that begin meanwhile by the gateway's own clock: each has the room of a limit per
 * minute.
 */
export async function countMinutes(
  { url }: Pick<Gateway, 'url'>,
  work: () => Promise<unknown>,
): Promise<number> {
  const now = async () => Date.parse((await fetch(`${url}/healthz`)).headers.get('date') ?? '')
  const startedAtMs = await now()
  await work()
  // The header has whole seconds.
  return Math.ceil(((await now()) - startedAtMs + 1000) / 60_000)
}

/** A stream as its reader saw it. */
export interface Stream extends Answer {
  /** Text of all deltas. */
  content: string
  pings: number
  isDone: boolean
}

/** Reads a stream out of its text. */
export function toStream(answer: Answer): Stream {
  const events = answer.text.split('\n\n').filter((event) => event !== '')
  const chunks = events
    .filter((event) => event.startsWith('data: {'))
    .map((e) => parsed(e.slice(6)))
  const failed = chunks.map((chunk) => chunk['error']).find(isJson)
  return {
    ...answer,
    error: failed ?? answer.error,
    content: chunks.map(contentOf).join(''),
    pings: events.filter((event) => event === ': ping').length,
    isDone: events.at(-1) === 'data: [DONE]',
  }
}

function contentOf({ choices }: Json): string {
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  if (!isJson(choice)) return ''
  const delta = isJson(choice['delta']) ? choice['delta']['content'] : choice['text']
  return typeof delta === 'string' ? delta : ''
}

/** What the suites ask most. */
export interface ChatClient {
  customer: Customer
  /** A plain chat completion of `fake/<name>`. */
  chat: (name: string, fields?: Json) => Promise<Answer>
  /** The same as a stream, read to its end. */
  stream: (name: string, fields?: Json) => Promise<Stream>
}

/** A customer of a rig, and the ways to ask as that customer. */
export async function newChatClient(rig: Rig): Promise<ChatClient> {
  const customer = await rig.gateway.customer()
  const chat = async (name: string, fields: Json = {}) => {
    const body = { model: await rig.model(name), messages, ...fields }
    return sendRequest(rig.gateway, { key: customer.key, body })
  }
  return {
    customer,
    chat,
    stream: async (name, fields) => toStream(await chat(name, { stream: true, ...fields })),
  }
}

/** Resident memory of a process, in MB. */
export function residentMb(pid: number): number {
  const { stdout } = Bun.spawnSync(['ps', '-o', 'rss=', '-p', String(pid)])
  return Number(stdout.toString()) / 1024
}

/** The most memory a process had while `work` ran, above what it had before, in MB. */
export async function memoryGrowth(pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = residentMb(pid)
  let max = before
  const timer = setInterval(() => {
    max = Math.max(max, residentMb(pid))
  }, 50)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  return Math.max(max, residentMb(pid)) - before
}

/**
 * Asks `/healthz` while `work` runs, and records how soon it answers. Returns the number of its answers: several where
 * nothing holds the event loop.
 */
export async function recordHealthFigures(
  gateway: Gateway,
  work: Promise<unknown>,
): Promise<number> {
  const state = { isOver: false }
  const watched = work.finally(() => {
    state.isOver = true
  })
  const times: number[] = []
  while (!state.isOver) {
    const startedAt = performance.now()
    const response = await fetch(`${gateway.url}/healthz`)
    await response.text()
    if (response.status !== 200) throw new Error(`healthz: ${response.status}`)
    times.push(performance.now() - startedAt)
    await Bun.sleep(2)
  }
  await watched
  times.sort((a, b) => a - b)
  const [median, longest] = [times[times.length >> 1] ?? Infinity, times.at(-1) ?? Infinity]
  recordFigure('H17: health checks meanwhile, median', median, { unit: 'ms', atMost: 100 })
  recordFigure('H17: health checks meanwhile, longest', longest, { unit: 'ms', atMost: 1000 })
  return times.length
}
