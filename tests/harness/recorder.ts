import { refusalProblems } from './rules/errors'
import { headerProblems, isEventStream } from './rules/headers'
import { StreamRules } from './rules/stream'

/** The part of `fetch` that clients use; the official clients take it as their `fetch` option. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Judges every answer that passes through it. */
export interface Recorder {
  /** Use it in place of `fetch`: same answers, streams unbuffered and byte for byte. */
  fetch: Fetch
  /** Registers a secret that must appear in no answer. */
  canary: (secret: string) => void
  /** Broken rules so far, each as `<method> <path>: <rule>: <what was seen>`. */
  violations: () => string[]
  /** Throws an error that lists every broken rule since the last call, and forgets them. */
  verify: () => void
}

interface SentRequest {
  method: string
  path: string
  body: Record<string, unknown>
  headers: Headers
  signal: AbortSignal | undefined
}

interface Notes {
  note: (violation: string) => void
  canaries: ReadonlySet<string>
}

function parsed(body: unknown): Record<string, unknown> {
  // Of a form only this decides which rules hold.
  if (body instanceof FormData) return { stream: body.get('stream') === 'true' }
  try {
    const value: unknown = typeof body === 'string' ? JSON.parse(body) : undefined
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

function readSentRequest(input: string | URL | Request, init: RequestInit = {}): SentRequest {
  const request = input instanceof Request ? input : undefined
  const url = new URL(input instanceof Request ? input.url : input)
  return {
    method: init.method ?? request?.method ?? 'GET',
    path: url.pathname,
    body: parsed(init.body),
    headers: new Headers(init.headers ?? request?.headers),
    signal: init.signal ?? request?.signal,
  }
}

/** Streams of sound and of its text have events of their own, and errors as all others. */
const isOfSound = ({ path }: SentRequest) => /^\/(?:v1|api\/playground)\/audio\//.test(path)

/** Two further dialects, and streams of images, have events of their own; only headers and secrets are judged. */
const isForeign = ({ path, headers, body }: SentRequest) =>
  /^(\/v1)+\/(messages|responses)\b/.test(path) ||
  (/^\/(?:v1|api\/playground)\/images\b/.test(path) && hasTrue(body, 'stream')) ||
  (/^\/v1\/models\b/.test(path) && headers.has('anthropic-version'))

const hasTrue = (value: unknown, name: string): boolean =>
  typeof value === 'object' && value !== null && Reflect.get(value, name) === true

/** A request asks for its usage as clients of OpenAI do, or as those of OpenRouter. */
const includesUsage = ({ stream_options: options, usage }: Record<string, unknown>): boolean =>
  hasTrue(options, 'include_usage') || hasTrue(usage, 'include')

function streamRules({ path, body }: SentRequest): StreamRules {
  const isKnown = 'model' in body
  const { n, prompt } = body
  const count = typeof n === 'number' && !Array.isArray(prompt) ? n : undefined
  return new StreamRules({
    path,
    includeUsage: isKnown ? includesUsage(body) : undefined,
    n: count,
  })
}

function leaks(text: string, canaries: ReadonlySet<string>): string[] {
  return [...canaries].filter((secret) => text.includes(secret)).map(() => 'I15: a canary secret')
}

/** Searches a stream for secrets, also where they lie across two pieces. */
function leakFinder({ canaries, note }: Notes): (piece: string) => void {
  let tail = ''
  return (piece) => {
    const text = tail + piece
    for (const leak of leaks(text, canaries)) note(leak)
    const maxLength = Math.max(1, ...[...canaries].map(({ length }) => length))
    tail = text.slice(-(maxLength - 1) || text.length)
  }
}

/** The same stream, judged as it is read; a client that leaves early owes it no ending. */
function judged(
  sentRequest: SentRequest,
  body: ReadableStream<Uint8Array>,
  notes: Notes,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const isOfChat = !isForeign(sentRequest) && !isOfSound(sentRequest)
  const rules = isOfChat ? streamRules(sentRequest) : undefined
  const decoder = new TextDecoder()
  const search = leakFinder(notes)
  const finish = (cut?: Error) => {
    if (!sentRequest.signal?.aborted) rules?.end(cut)
    for (const violation of rules?.violations ?? []) notes.note(violation)
  }
  /** A client that reads no more may leave while a piece is on its way. */
  let isLeft = false
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (isLeft) return
          if (done) {
            finish()
            return controller.close()
          }
          rules?.push(value)
          search(decoder.decode(value, { stream: true }))
          controller.enqueue(value)
        } catch (thrown) {
          if (isLeft) return
          finish(
            thrown instanceof Error ? thrown : new Error('of no known cause', { cause: thrown }),
          )
          controller.error(thrown)
        }
      },
      cancel(reason) {
        isLeft = true
        for (const violation of rules?.violations ?? []) notes.note(violation)
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

async function judge(
  sentRequest: SentRequest,
  response: Response,
  notes: Notes,
): Promise<Response> {
  const { status, statusText, headers } = response
  for (const leak of leaks(JSON.stringify([...headers]), notes.canaries)) notes.note(leak)
  const init = { status, statusText, headers }
  if (response.body && isEventStream(response)) {
    return new Response(judged(sentRequest, response.body, notes), init)
  }
  const bytes = await response.arrayBuffer()
  const text = new TextDecoder().decode(bytes)
  for (const leak of leaks(text, notes.canaries)) notes.note(leak)
  if (!response.ok && sentRequest.method !== 'HEAD' && !isForeign(sentRequest)) {
    for (const problem of refusalProblems(response, text)) notes.note(`I13: ${problem}`)
  }
  if (response.ok && status > 201) notes.note(`I13: status ${status} does not exist here`)
  return new Response(bytes.byteLength === 0 ? null : bytes, init)
}

/** Starts recording. `alsoAllowed` names response headers a test expects besides the usual ones. */
export function startRecorder({ alsoAllowed = [] as readonly string[] } = {}): Recorder {
  const canaries = new Set<string>()
  let violations: string[] = []
  return {
    async fetch(input, init) {
      // Clients look what `fetch` can do by a request that goes nowhere.
      if (typeof input === 'string' && input.startsWith('data:')) return fetch(input, init)
      const sentRequest = readSentRequest(input, init)
      const response = await fetch(input, init)
      const note = (violation: string) =>
        violations.push(`${sentRequest.method} ${sentRequest.path}: ${violation}`)
      for (const problem of headerProblems(response, alsoAllowed)) note(problem)
      return judge(sentRequest, response, { note, canaries })
    },
    canary: (secret) => void canaries.add(secret),
    violations: () => [...violations],
    verify() {
      const found = violations
      violations = []
      if (found.length > 0) throw new Error(`Broken rules:\n${found.join('\n')}`)
    },
  }
}
