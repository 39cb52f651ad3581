import { isObject } from '../../api/client'
import { toPrettyJson } from '../../format/json'

/** The fields of a request that its command needs. */
export interface RepeatableRequest {
  endpoint: string
  model: string
  requested_model: string
  stream: boolean
  /** Absent where the reader may not see it. */
  request_body?: string | null | undefined
}

const chatPath = '/v1/chat/completions'
const greeting = [{ role: 'user', content: 'Hello!' }]

const ranking = { query: 'Hello!', documents: ['Hello, you!', 'Goodbye.'] }

/** A small request for each endpoint, where the body was not stored. */
const samples: Readonly<Record<string, object>> = {
  [chatPath]: { messages: greeting },
  '/v1/completions': { prompt: 'Hello!' },
  '/v1/embeddings': { input: 'Hello!' },
  '/v1/moderations': { input: 'Hello!' },
  '/v1/rerank': ranking,
  '/v2/rerank': ranking,
  '/v1/images/generations': { prompt: 'A lighthouse at dusk' },
  '/v1/images/edits': {
    prompt: 'At dusk',
    images: [{ image_url: 'https://example.com/lighthouse.png' }],
  },
  '/v1/images/variations': { images: [{ image_url: 'https://example.com/lighthouse.png' }] },
  '/v1/audio/speech': { voice: 'alloy', input: 'Hello!' },
  '/v1/messages': { max_tokens: 256, messages: greeting },
  '/v1/responses': { input: 'Hello!' },
}

/** Endpoints whose requests are forms with a file, which no log has. */
const formPaths: ReadonlySet<string> = new Set([
  '/v1/audio/transcriptions',
  '/v1/audio/translations',
])

/** Calls of sessions have no endpoint of their own: other clients send them as chat completions. */
const pathOf = (endpoint: string) => (endpoint in samples ? endpoint : chatPath)

/** Reads a stored body; undefined where it was cut, or was not stored. */
export function storedBody(body: string | null | undefined): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(body ?? '')
    return isObject(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

/** A form with images is stored without its files. */
const isForm = ({ image }: Record<string, unknown>) =>
  [image].flat().some((file) => isObject(file) && 'sha256' in file)

function bodyOf(request: RepeatableRequest, path: string): object {
  const stored = path === request.endpoint ? storedBody(request.request_body) : undefined
  if (stored && !isForm(stored)) return stored
  return {
    model: request.requested_model || request.model,
    ...samples[path],
    ...(request.stream && { stream: true }),
  }
}

/** Quotes a text for a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** Returns a command that sends a form with a file of the reader. */
const toFormCurl = (
  { endpoint, model, requested_model: name }: RepeatableRequest,
  origin: string,
) =>
  [
    `curl ${origin}${endpoint}`,
    '-H "Authorization: Bearer $TOLLGATE_API_KEY"',
    `--form-string ${quoted(`model=${name || model}`)}`,
    '-F file=@recording.mp3',
  ].join(' \\\n  ')

/** Returns a command that sends a request again, with the stored body, else with a sample. */
export function toCurl(request: RepeatableRequest, origin: string): string {
  if (formPaths.has(request.endpoint)) return toFormCurl(request, origin)
  const path = pathOf(request.endpoint)
  return [
    `curl ${origin}${path}`,
    '-H "Authorization: Bearer $TOLLGATE_API_KEY"',
    '-H "Content-Type: application/json"',
    `-d ${quoted(toPrettyJson(bodyOf(request, path)))}`,
  ].join(' \\\n  ')
}
