import { chatFormat } from './chat-format'
import type { Format } from './format'
import { googleFormat } from './google-format'
import { messagesFormat } from './messages-format'
import { responsesFormat } from './responses-format'
import { isJson, maxPromptLength, nextTurn } from './scenes'

/** A model that answers by the request's scene, in the formats of four vendors, on loopback. */
export interface AgentUpstream extends AsyncDisposable {
  /** The address, without a path. */
  url: string
  /** Returns the requests since the last call. */
  taken: () => ReceivedRequest[]
  /** Returns requests for a model, without removing them. */
  requestsFor: (model: string) => ReceivedRequest[]
}

/** A request that reached the upstream. */
export interface ReceivedRequest {
  path: string
  status: number
  length: number
  body: Record<string, unknown>
}

const formats: readonly [RegExp, Format][] = [
  [/\/chat\/completions$/, chatFormat],
  [/\/messages$/, messagesFormat],
  [/\/responses$/, responsesFormat],
  [/:(stream)?generateContent$/i, googleFormat],
]

function answerTo(path: string, text: string, body: Record<string, unknown>): Response {
  const format = formats.find(([pattern]) => pattern.test(path))?.[1]
  if (!format) {
    return Response.json({ error: { message: `no ${path}`, type: 'not_found' } }, { status: 404 })
  }
  if (text.length > maxPromptLength) return format.tooLong()
  const refused = format.fault?.(body)
  if (refused) return refused
  const chatRequest = format.read({ ...body, ...(/:stream/.test(path) && { isStreamed: true }) })
  return format.write(nextTurn(chatRequest), chatRequest.isStreamed)
}

export function startAgentUpstream(): AgentUpstream {
  let seen: ReceivedRequest[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const text = await request.text()
      const { pathname } = new URL(request.url)
      const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : {}
      const body = isJson(parsed) ? parsed : {}
      const answer = answerTo(pathname, text, body)
      seen.push({ path: pathname, status: answer.status, length: text.length, body })
      return answer
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    taken() {
      const taken = seen
      seen = []
      return taken
    },
    requestsFor: (model) => seen.filter(({ body }) => body['model'] === model),
    async [Symbol.asyncDispose]() {
      await server.stop(true)
    },
  }
}
