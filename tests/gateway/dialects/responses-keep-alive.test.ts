import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { eventsIn, typesOf } from './response-events'
import { request } from '../../harness/http'
import { upstreamSecret } from '../../harness/server'
import { openFront, type Front } from '../../providers/translated/front'
import type { Json } from '../../providers/conformance/fixture'

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    KEEP_ALIVE_SECONDS: '0.2',
    OPENAI_API_KEY: upstreamSecret,
    OPENAI_BASE_URL: `${url}/v1`,
    DEEPSEEK_API_KEY: upstreamSecret,
    DEEPSEEK_BASE_URL: `${url}/v1`,
  }))
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const frameOf = (event: Json) => `data: ${JSON.stringify(event)}\n\n`
const chunkOf = (delta: Json, finish_reason: string | null = null) =>
  frameOf({ id: 'c', choices: [{ index: 0, delta, finish_reason }] })

const item = { type: 'message', id: 'msg_1', role: 'assistant', content: [] }
const response = { id: 'resp_theirs', object: 'response', output: [] }
const responseOf = (events: readonly Json[], first: number) =>
  events.map((event, at) => frameOf({ ...event, sequence_number: first + at })).join('')

const voices: [what: string, model: string, pieces: [before: string, after: string]][] = [
  [
    'a Response that is passed through',
    'openai/gpt-6-astra',
    [
      responseOf(
        [
          { type: 'response.created', response: { ...response, status: 'in_progress' } },
          { type: 'response.output_item.added', output_index: 0, item },
        ],
        0,
      ),
      responseOf(
        [
          { type: 'response.output_item.done', output_index: 0, item },
          { type: 'response.completed', response: { ...response, status: 'completed' } },
        ],
        2,
      ),
    ],
  ],
  [
    'a chat completion that is translated',
    'deepseek/deepseek-v4-flash',
    [
      chunkOf({ role: 'assistant', content: 'Hm' }),
      `${chunkOf({ content: '.' })}${chunkOf({}, 'stop')}data: [DONE]\n\n`,
    ],
  ],
]

/** The first text, a silence for as long as the promise is open, and the second. */
async function* pausing(before: string, after: string, silence: Promise<void>) {
  yield before
  await silence
  yield after
}

test.each(voices)(
  'finding V17: a silence in %s is filled with a numbered event',
  async (_what, model, [before, after]) => {
    const goOn = Promise.withResolvers<void>()
    front.answer = () =>
      new Response(pausing(before, after, goOn.promise), {
        headers: { 'content-type': 'text/event-stream' },
      })
    const { gateway, customer } = front
    const body = { model, input: 'Hi.', stream: true }
    const answer = await request(gateway, { path: '/v1/responses', key: customer.key, body })
    let text = ''
    const decoder = new TextDecoder()
    for await (const bytes of answer.body ?? []) {
      text += decoder.decode(bytes, { stream: true })
      // Two of them, so that their own numbers are seen to follow on.
      if (text.split('event: keepalive\n').length > 2) goOn.resolve()
    }
    const types = typesOf(eventsIn(text))
    expect(types.filter((type) => type === 'keepalive').length).toBeGreaterThanOrEqual(2)
    expect([types[0], types.at(-1)]).toEqual(['response.created', 'response.completed'])
  },
)
