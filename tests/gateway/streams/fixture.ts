import { voices, type Format } from './voices'
import { isJson, type Json } from '../../providers/conformance/fixture'
import { type Answer, parsed } from '../../harness/http'
import { upstreamSecret } from '../../harness/server'
import { openFront, type Front } from '../../providers/translated/front'
import type { Hold } from '../../../server/testing/hold'

export const text = 'All is well.'

const paths = { groq: '/v1', anthropic: '', openai: '/v1', google: '/v1beta' }

/** Returns the address of a provider at the front. */
export const addressOf = (provider: keyof typeof paths, front: string): string =>
  `${front}${paths[provider]}`

/** Starts a gateway in front of providers of four formats, which answer what a test says. */
export async function openStreams(environment: Json = {}): Promise<Front> {
  const front = await openFront((url) => ({
    GROQ_API_KEY: upstreamSecret,
    GROQ_BASE_URL: addressOf('groq', url),
    ANTHROPIC_API_KEY: upstreamSecret,
    ANTHROPIC_BASE_URL: addressOf('anthropic', url),
    OPENAI_API_KEY: upstreamSecret,
    OPENAI_BASE_URL: addressOf('openai', url),
    GEMINI_API_KEY: upstreamSecret,
    GOOGLE_BASE_URL: addressOf('google', url),
    ...environment,
  }))
  const fields = { context_length: 200_000, max_output_tokens: 64_000 }
  for (const { model } of Object.values(voices)) {
    await (model.endsWith('/m') ? front.price(model, fields) : front.price(model))
  }
  return front
}

/** The format that a provider is asked in. */
const formatOf = (path: string): Format => {
  if (path.includes('/messages')) return 'messages'
  if (path.includes('/responses')) return 'responses'
  return path.includes('/chat/') ? 'chat' : 'google'
}

/** Has each provider answer in its own format, so that many can be asked at the same time. */
export function answerEach(front: Front, answer: (format: Format) => Response): void {
  front.answer = ({ path }) => answer(formatOf(path))
}

let models = 0

/** A model of a format that no test has used, so that none of its breakers is open. Returns its id. */
export async function newModel(front: Front, format: Format): Promise<string> {
  const id = `${voices[format].model}-${(models += 1)}`
  await front.price(id, { context_length: 2_000_000, max_output_tokens: 1_000_000 })
  return id
}

/** A stream that sends those pieces, waits so many milliseconds or for a hold, and then ends or stays open. */
export function scripted(
  pieces: readonly (string | number | Hold)[],
  {
    type = 'text/event-stream',
    staysOpen = false,
    onCancel,
  }: { type?: string; staysOpen?: boolean; onCancel?: () => void } = {},
): Response {
  const encoder = new TextEncoder()
  let isCancelled = false
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (const piece of pieces) {
        if (typeof piece === 'number') await Bun.sleep(piece)
        else if (typeof piece === 'object') await piece.hold()
        else if (!isCancelled) controller.enqueue(encoder.encode(piece))
      }
      if (!staysOpen && !isCancelled) controller.close()
    },
    cancel() {
      isCancelled = true
      onCancel?.()
    },
  })
  return new Response(body, { headers: type === '' ? {} : { 'content-type': type } })
}

/** A format in which clients ask. */
export interface Door {
  door: 'chat' | 'messages' | 'responses'
  stream: boolean
}

export const doors: Door[] = (['chat', 'messages', 'responses'] as const).flatMap((door) =>
  [true, false].map((stream) => ({ door, stream })),
)

const formats = ['chat', 'messages', 'responses', 'google'] as const satisfies readonly Format[]

/** Formats of providers behind doors; chat requests get to Responses only with a tool. */
export const cells = doors.flatMap((door) => formats.map((format) => ({ ...door, format })))

const prompt = [{ role: 'user', content: 'Say something.' }]
const schema = { type: 'object', properties: { q: { type: 'integer' } } }

/** Asks the model of a format by a door, or another one of that format. */
export function ask(
  front: Front,
  { door, stream, maxTokens = 100 }: Door & { maxTokens?: number },
  to: Format | readonly [Format, model: string],
): Promise<Answer> {
  const [format, model] = typeof to === 'string' ? [to, voices[to].model] : to
  // Only with a tool it is asked for a Response.
  const hasTool = format === 'responses'
  switch (door) {
    case 'chat': {
      const tools = [{ type: 'function', function: { name: 'look', parameters: schema } }]
      return front.post('/v1/chat/completions', {
        model,
        stream,
        messages: prompt,
        ...(stream && { stream_options: { include_usage: true } }),
        ...(hasTool && { tools }),
      })
    }
    case 'messages':
      return front.post('/v1/messages', {
        model,
        stream,
        messages: prompt,
        max_tokens: maxTokens,
        ...(hasTool && { tools: [{ name: 'look', input_schema: schema }] }),
      })
    case 'responses':
    default:
      return front.post('/v1/responses', { model, stream, input: 'Say something.' })
  }
}

const eventsIn = (body: string): Json[] =>
  body
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => parsed(line.slice(6)))

const jsonAt = (value: unknown, ...path: (string | number)[]): unknown =>
  path.reduce<unknown>(
    (at, name) => (isJson(at) || Array.isArray(at) ? Reflect.get(at, name) : undefined),
    value,
  )

/** The text of an answer, and whether it is whole. */
export function heard({ door, stream }: Door, answer: Answer): { text: string; isWhole: boolean } {
  if (!stream) {
    const paths = {
      chat: ['choices', 0, 'message', 'content'],
      messages: ['content', 0, 'text'],
      responses: ['output', 0, 'content', 0, 'text'],
    }
    return { text: String(jsonAt(answer.body, ...paths[door])), isWhole: answer.status === 200 }
  }
  const events = eventsIn(answer.text)
  const isFailed = events.some((event) => event['error'] || event['type'] === 'response.failed')
  const pieces = events.map((event) => {
    if (door === 'chat') return jsonAt(event, 'choices', 0, 'delta', 'content') ?? ''
    if (door === 'messages') return jsonAt(event, 'delta', 'text') ?? ''
    return event['type'] === 'response.output_text.delta' ? event['delta'] : ''
  })
  const ends = { chat: 'data: [DONE]\n\n', messages: '"message_stop"', responses: '.completed"' }
  return { text: pieces.join(''), isWhole: !isFailed && answer.text.includes(ends[door]) }
}
