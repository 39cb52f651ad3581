import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { upstreamSecret } from '../../harness/server'
import { eventsOf, openFront, type Front } from './front'

let front: Front

beforeAll(async () => {
  front = await openFront(() => ({}))
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const entraToken = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.c2lnbmF0dXJl'
const answered = () =>
  Response.json({
    id: 'x',
    object: 'chat.completion',
    model: 'gpt-4.1-2025-04-14',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hi' },
        finish_reason: 'stop',
        content_filter_results: {},
      },
    ],
    usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
  })

/** The one connection of that provider. */
async function connect(provider: string, path: string, fields: object = {}): Promise<string> {
  const { id } = await front.gateway.admin('POST', '/connections', {
    name: provider,
    provider,
    api_key: upstreamSecret,
    endpoint_url: `${front.url}${path}`,
    ...fields,
  })
  return String(id)
}
const disconnect = (id: string) => front.gateway.admin('DELETE', `/connections/${id}`)

const model = 'azure/gpt-4.1'
const deployments = { 'gpt-4.1': 'team-chat', 'text-embedding-3-small': 'team-embed' }

test('a request for a Response goes on as one to the newer surface, and as a chat to older ones', async () => {
  await front.price(model)
  const usage = { input_tokens: 7, output_tokens: 2, total_tokens: 9 }
  const response = { id: 'resp_1', object: 'response', status: 'completed', output: [], usage }
  front.answer = ({ path }) => (path.includes('/responses') ? Response.json(response) : answered())
  const params = { model, input: 'Hi.', store: false, made_up: 1 }
  // An operator allows what no SDK has.
  const newer = await connect('azure', '/openai/v1', {
    options: { deployments, allow: { fields: ['made_up'] } },
  })
  const relayed = await front.post('/v1/responses', params)
  expect((await front.booked(relayed)).cost).toBe(15_000n)
  expect(front.requests[0]).toMatchObject({ path: '/openai/v1/responses' })
  expect(front.requests[0]?.body).toEqual({ ...params, model: 'team-chat' })
  await disconnect(newer)
  const older = await connect('azure', '/openai', { options: { api_version: '2024-10-21' } })
  expect((await front.post('/v1/responses', params)).status).toBe(200)
  expect(front.requests[1]?.path).toStartWith('/openai/deployments/gpt-4.1/chat/completions')
  await disconnect(older)
})

test('the newer surface: a deployment stands for the model, in the body', async () => {
  await front.price(model)
  const id = await connect('azure', '/openai/v1', { options: { deployments } })
  front.answer = answered
  const answer = await front.chat(model)
  expect(answer.body).toMatchObject({ model, choices: [{ message: { content: 'Hi' } }] })
  expect((await front.booked(answer)).cost).toBe(15_000n)
  expect(front.requests[0]).toMatchObject({
    path: '/openai/v1/chat/completions',
    body: { model: 'team-chat' },
  })
  expect(front.requests[0]?.headers.get('api-key')).toBe(upstreamSecret)
  expect(front.requests[0]?.headers.get('authorization')).toBeNull()
  await disconnect(id)
})

test('the classic surface: deployment and version in the address, for embeddings too', async () => {
  const embedding = 'azure/text-embedding-3-small'
  await front.price(embedding)
  const options = { deployments, api_version: '2024-10-21' }
  const id = await connect('azure', '/openai/deployments/other', { options })
  front.answer = answered
  await front.chat(model)
  front.answer = () =>
    Response.json({ data: [{ index: 0, embedding: [1] }], usage: { total_tokens: 4 } })
  const answer = await front.post('/v1/embeddings', { model: embedding, input: 'one' })
  expect(front.requests.map(({ path }) => path)).toEqual([
    '/openai/deployments/team-chat/chat/completions?api-version=2024-10-21',
    '/openai/deployments/team-embed/embeddings?api-version=2024-10-21',
  ])
  expect((await front.booked(answer)).cost).toBe(4000n)
  await disconnect(id)
})

test('a token of Entra is a Bearer', async () => {
  const id = await connect('azure', '/openai/v1', { api_key: entraToken })
  front.gateway.recorder.canary(entraToken)
  front.answer = answered
  await front.chat(model)
  expect(front.requests[0]?.headers.get('authorization')).toBe(`Bearer ${entraToken}`)
  expect(front.requests[0]?.headers.get('api-key')).toBeNull()
  await disconnect(id)
})

test('options can be changed, and are returned', async () => {
  const id = await connect('azure', '/openai/v1')
  const changed = await front.gateway.admin('PUT', `/connections/${id}`, {
    options: { deployments },
  })
  expect(changed['options']).toEqual({ deployments })
  front.answer = answered
  await front.chat(model)
  expect(front.requests[0]?.body['model']).toBe('team-chat')
  for (const options of [{ api_version: '../x' }, { deployments: { a: '..' } }, { zone: 'x' }]) {
    const refused = front.gateway.admin('PUT', `/connections/${id}`, { options })
    await expect(refused).rejects.toThrow('400')
  }
  await disconnect(id)
})

test('tools that a model accepts only as a Response: its deployment receives one', async () => {
  const own = 'azure/gpt-6-astra'
  await front.price(own)
  const id = await connect('azure', '/openai/v1', {
    options: { deployments: { 'gpt-6-astra': 'star' } },
  })
  front.answer = () =>
    eventsOf(
      { type: 'response.output_text.delta', delta: 'Hi' },
      {
        type: 'response.completed',
        response: { status: 'completed', usage: { input_tokens: 10, output_tokens: 1 } },
      },
    )
  const tools = [{ type: 'function', function: { name: 'f' } }]
  const answer = await front.chat(own, { tools })
  expect(front.requests[0]).toMatchObject({ path: '/openai/v1/responses', body: { model: 'star' } })
  expect((await front.booked(answer)).cost).toBe(14_000n)
  await disconnect(id)
})

test('Claude on Foundry speaks its own format, under its own header', async () => {
  const claude = 'azure-foundry/claude-fable-5'
  await front.price(claude)
  const id = await connect('azure-foundry', '/models', {
    options: { deployments: { 'claude-fable-5': 'fable' } },
  })
  front.answer = () =>
    eventsOf(
      {
        type: 'message_start',
        message: { id: 'm', content: [], usage: { input_tokens: 10, output_tokens: 1 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    )
  const answer = await front.chat(claude)
  expect(answer.body).toMatchObject({ choices: [{ message: { content: 'Hi' } }] })
  const [request] = front.requests
  expect(request).toMatchObject({ path: '/anthropic/v1/messages', body: { model: 'fable' } })
  expect(request?.headers.get('x-api-key')).toBe(upstreamSecret)
  expect(request?.headers.get('anthropic-version')).toBe('2023-06-01')
  expect((await front.booked(answer)).cost).toBe(18_000n)
  await disconnect(id)
})
