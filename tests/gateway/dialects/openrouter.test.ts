import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { upstreamSecret } from '../../harness/server'
import { eventsOf, openFront, type Front } from '../../providers/translated/front'

/** What clients of OpenRouter need of answers, by relay and by translation. */

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    OPENAI_API_KEY: upstreamSecret,
    OPENAI_BASE_URL: `${url}/v1`,
    GROQ_API_KEY: upstreamSecret,
    GROQ_BASE_URL: `${url}/v1`,
    ANTHROPIC_API_KEY: upstreamSecret,
    ANTHROPIC_BASE_URL: url,
  }))
  for (const model of models) await front.price(model, { context_length: 100_000 })
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const relayed = 'groq/relayed'
const translated = 'anthropic/translated'
const models = [relayed, translated]

const usage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 }
const message = { role: 'assistant', content: 'Hello.' }
const whole = (fields: object = {}) =>
  Response.json({
    id: 'a',
    object: 'chat.completion',
    created: 1,
    model: 'relayed',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
    ...fields,
  })

const anthropicStream = () =>
  eventsOf(
    {
      type: 'message_start',
      message: { id: 'msg_1', role: 'assistant', content: [], usage: { input_tokens: 20 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  )

const answerOf = (model: string) => (model === relayed ? () => whole() : anthropicStream)

test.each([...models, 'sandbox/echo'])(
  'finding D4: a whole answer of %s has a system_fingerprint, null if the provider sends none',
  async (model) => {
    front.answer = answerOf(model)
    const answer = await front.chat(model)
    expect(answer.status).toBe(200)
    expect(answer.body).toHaveProperty('system_fingerprint', null)
  },
)

test('finding D4: the provider’s own fingerprint is passed on', async () => {
  front.answer = () => whole({ system_fingerprint: 'fp_1' })
  expect((await front.chat(relayed)).body).toHaveProperty('system_fingerprint', 'fp_1')
})

test.each([
  [relayed, 'groq'],
  [translated, 'anthropic'],
  ['sandbox/echo', 'sandbox'],
])('finding D4: a whole answer of %s names its provider, %s', async (model, provider) => {
  front.answer = answerOf(model)
  expect((await front.chat(model)).body).toHaveProperty('provider', provider)
})

test('finding D4: the provider that the provider named is passed on', async () => {
  front.answer = () => whole({ provider: 'DeepInfra' })
  expect((await front.chat(relayed)).body).toHaveProperty('provider', 'DeepInfra')
})

/** 20 tokens at 1 USD and 5 at 4 USD per million. */
const cost = 0.00004
const include = { usage: { include: true } }

const usageIn = (value: unknown) => Reflect.get(Object(value), 'usage')

const lastUsage = (text: string) =>
  usageIn(
    text
      .split('\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line): unknown => JSON.parse(line.slice('data: '.length)))
      .findLast((chunk) => usageIn(chunk)),
  )

const chatStream = () =>
  eventsOf(
    { choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello.' } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { choices: [], usage },
    '[DONE]',
  )

const neverSent = () => {
  expect(front.requests.length).toBeGreaterThan(0)
  for (const { body } of front.requests) expect(body).not.toHaveProperty('usage')
}

test.each(models)('finding D7: a whole answer of %s has its cost on request', async (model) => {
  front.answer = answerOf(model)
  const answer = await front.chat(model, include)
  expect(answer.status).toBe(200)
  expect(usageIn(answer.body)).toMatchObject({ prompt_tokens: 20, completion_tokens: 5, cost })
  expect(answer.headers.get('x-tollgate-cost')).toBe(String(cost))
  expect(answer.headers.get('x-tollgate-omitted')).toBeNull()
  expect(usageIn((await front.chat(model)).body)).not.toHaveProperty('cost')
  neverSent()
})

test.each(models)('finding D7: a stream of %s has it in its last chunk', async (model) => {
  front.answer = model === relayed ? chatStream : anthropicStream
  const { text } = await front.chat(model, { stream: true, ...include })
  const frames = text.trim().split('\n\n')
  expect(frames.at(-1)).toBe('data: [DONE]')
  const last: unknown = JSON.parse((frames.at(-2) ?? '').slice('data: '.length))
  expect(last).toMatchObject({ choices: [], usage: { prompt_tokens: 20, cost } })
  expect(text).toContain('Hello.')
  const unasked = await front.chat(model, { stream: true, stream_options: { include_usage: true } })
  expect(lastUsage(unasked.text)).not.toHaveProperty('cost')
  expect((await front.chat(model, { stream: true })).text).not.toContain('"usage":{')
  neverSent()
})

test.each(['/v1/messages', '/v1/responses'])(
  'finding D7: answers of %s have it too',
  async (path) => {
    const said = { messages: [{ role: 'user', content: 'Hi.' }], max_tokens: 600 }
    for (const model of models) {
      for (const stream of [false, true]) {
        front.answer = ({ body }) => {
          if (model === relayed) return body['stream'] === true ? chatStream() : whole()
          return body['stream'] === true ? anthropicStream() : Response.json(claude)
        }
        const input = path === '/v1/messages' ? said : { input: 'Hi.' }
        const answer = await front.post(path, { model, stream, ...input, ...include })
        expect([model, stream, answer.status]).toEqual([model, stream, 200])
        const counts = stream ? costIn(answer.text) : usageIn(answer.body)
        expect([model, stream, counts]).toMatchObject([model, stream, { cost }])
      }
    }
    neverSent()
  },
)

test('finding D7: legacy completions and embeddings have it as well', async () => {
  const pricing = { input: 1, output: 0 }
  await front.price('openai/vectors', { category: 'embedding', pricing })
  const data = [{ object: 'embedding', index: 0, embedding: [1] }]
  const counts = { prompt_tokens: 3, total_tokens: 3 }
  front.answer = ({ path }) =>
    path.endsWith('/embeddings') ? Response.json({ object: 'list', data, usage: counts }) : whole()
  const vectors = { model: 'openai/vectors', input: 'Hi.', ...include }
  expect(usageIn((await front.post('/v1/embeddings', vectors)).body)).toMatchObject({
    cost: 0.000003,
  })
  const completion = { model: relayed, prompt: 'Hi.', ...include }
  expect(usageIn((await front.post('/v1/completions', completion)).body)).toMatchObject({ cost })
  front.answer = chatStream
  const streamed = await front.post('/v1/completions', { ...completion, stream: true })
  expect(lastUsage(streamed.text)).toMatchObject({ cost })
  neverSent()
})

const claude = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 20, output_tokens: 5 },
}

/** The usage of the last event of a stream that has one, in the event or in its response. */
const costIn = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line): unknown => JSON.parse(line.slice('data: '.length)))
    .map((event) => usageIn(event) ?? usageIn(Reflect.get(Object(event), 'response')))
    .findLast((counts) => counts)
