/**
 * A server of the OpenAI format that listens on its own machine only. The last message controls its
 * answer: "say 100 every 20 ms" streams the numbers from 0 to 99, "of 1000 bytes" each
 * that long, "when I say so" after another request with "now"; "wait 1000" answers after that many ms. Prints
 * its requests as lines of JSON, each number of a paced stream, and the bytes sent where a client disconnected.
 */
import { z } from 'zod'

const ChatRequest = z.object({
  messages: z.array(z.object({ role: z.string(), content: z.string().nullish() })),
  stream: z.boolean().optional(),
  tools: z.array(z.unknown()).optional(),
})

const tell = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)
const head = { id: 'chatcmpl-1', created: 1, model: 'any' }

/** Calls both tools one after the other, and then answers with their results. */
const steps = [
  { name: 'mine_add', arguments: '{"a":2,"b":40}' },
  { name: 'mine_pid', arguments: '{}' },
]

function whole({ messages, tools }: z.output<typeof ChatRequest>): object {
  const results = messages.filter(({ role }) => role === 'tool')
  const step = tools && steps[results.length]
  const content = step ? null : `Done: ${results.map((result) => result.content).join(', ')}`
  const tool_calls = step && [{ id: `call_${results.length}`, type: 'function', function: step }]
  const message = { role: 'assistant', content, ...(step && { tool_calls }) }
  const choices = [{ index: 0, message, finish_reason: step ? 'tool_calls' : 'stop' }]
  const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
  return { ...head, object: 'chat.completion', choices, usage }
}

const chunk = (more: object) =>
  `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...more })}\n\n`
const piece = (delta: object, finish_reason: string | null = null) =>
  chunk({ choices: [{ index: 0, delta, finish_reason }] })

const go = Promise.withResolvers<void>()

async function* streamed(content: string, signal: AbortSignal) {
  let sent = 0
  const left = () => tell({ event: 'left', content, sent })
  signal.addEventListener('abort', left)
  const [, times = '3', ms = '0', bytes = '0'] =
    /say (\d+)(?: every (\d+) ms)?(?: of (\d+) bytes)?/.exec(content) ?? []
  const count = Number(times)
  for (let at = 0; at < count && !signal.aborted; at++) {
    const next = piece({ content: `${at} `.padEnd(Number(bytes)) })
    yield next
    sent += next.length
    if (Number(ms) > 0) {
      tell({ event: 'said', content, number: at })
      await Bun.sleep(Number(ms))
    }
    if (content.includes('when I say so')) await go.promise
  }
  yield piece({}, 'stop')
  const usage = { prompt_tokens: 7, completion_tokens: count, total_tokens: 7 + count }
  yield chunk({ choices: [], usage })
  yield 'data: [DONE]\n\n'
}

Bun.serve({
  port: 11_434,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  async fetch(request) {
    if (request.method === 'GET') {
      return Response.json({ object: 'list', data: [{ id: 'one' }, { id: 'mine' }] })
    }
    const chatRequest = ChatRequest.parse(await request.json())
    const content = chatRequest.messages.findLast(({ role }) => role === 'user')?.content ?? ''
    tell({ event: 'asked', content })
    if (content === 'now') go.resolve()
    if (content.startsWith('wait')) await Bun.sleep(Number(/\d+/.exec(content)?.[0]))
    if (!chatRequest.stream) return Response.json(whole(chatRequest))
    const headers = { 'content-type': 'text/event-stream' }
    return new Response(streamed(content, request.signal), { headers })
  },
})
tell({ event: 'listening' })
