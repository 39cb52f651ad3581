import { chatFormat } from './chat-format'
import type { Format } from './format'
import { googleFormat } from './google-format'
import { messagesFormat } from './messages-format'
import { responsesFormat } from './responses-format'
import { isJson, maxPromptLength, turnFor } from './scenes'

/** A model whose turns follow from what it is asked, in the formats of four vendors, on loopback. */
export interface AgentUpstream extends AsyncDisposable {
  /** Without a path. */
  url: string
  /** The requests since the last look. */
  taken: () => SeenRequest[]
  /** Those of them that name a model, and they stay. */
  seenFor: (model: string) => SeenRequest[]
}

/** A request that reached the upstream. */
export interface SeenRequest {
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
  const asked = format.read({ ...body, ...(/:stream/.test(path) && { isStreamed: true }) })
  return format.write(turnFor(asked), asked.isStreamed)
}

export function startAgentUpstream(): AgentUpstream {
  let seen: SeenRequest[] = []
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
    seenFor: (model) => seen.filter(({ body }) => body['model'] === model),
    async [Symbol.asyncDispose]() {
      await server.stop(true)
    },
  }
}
