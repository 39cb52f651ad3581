import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { greeting } from '../dialects/claude'
import { sendRequest } from '../../harness/http'
import { upstreamSecret } from '../../harness/server'
import { openFront, type Front } from '../../providers/translated/front'

let front: Front
const model = 'anthropic/claude-sonnet-4-6'
const pricing = { input: 3, output: 15, cached_input: 0.3, cache_write: 3.75 }

beforeAll(async () => {
  front = await openFront((url) => ({
    ANTHROPIC_API_KEY: upstreamSecret,
    ANTHROPIC_BASE_URL: url,
  }))
  await front.gateway.admin('PUT', `/models/${model}`, { pricing })
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const usages = [
  { input_tokens: 10, cache_creation_input_tokens: 1000, output_tokens: 2 },
  {
    input_tokens: 20,
    cache_read_input_tokens: 1000,
    cache_creation_input_tokens: 70,
    output_tokens: 2,
  },
]

test('finding P3: logs and their sums show the tokens that a cache held, wrote and saved', async () => {
  const { key } = await front.gateway.customer({ permissions: ['admin'] })
  const logs = []
  for (const usage of usages) {
    front.answer = () => Response.json({ ...greeting, usage })
    const body = { model, max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] }
    const answer = await sendRequest(front.gateway, { path: '/v1/messages', key, body })
    // With which its log is written; a reader waits for it a second at most.
    await front.booked(answer)
    const path = `/api/account/request-logs/${answer.headers.get('x-request-id')}`
    logs.push((await sendRequest(front.gateway, { path, key, method: 'GET' })).body)
  }
  expect(logs).toMatchObject([
    {
      input_tokens: 1010,
      cached_tokens: 0,
      cache_write_tokens: 1000,
      // It cost 0.75 USD a million more than input.
      cache_savings: -0.00075,
      cost: 0.00381,
    },
    {
      input_tokens: 1090,
      cached_tokens: 1000,
      cache_write_tokens: 70,
      cache_savings: 0.0026475,
      cost: 0.0006525,
    },
  ])
  const path = '/api/account/request-logs'
  const list = await sendRequest(front.gateway, { path, key, method: 'GET' })
  expect(list.body['logs']).toMatchObject([{ cached_tokens: 1000 }, { cached_tokens: 0 }])
  const stats = await sendRequest(front.gateway, { path: `${path}/stats`, key, method: 'GET' })
  expect(stats.body).toMatchObject({
    input_tokens: 2100,
    cached_tokens: 1000,
    cache_write_tokens: 1070,
    cache_hit_rate: 47.62,
    cache_savings: 0.0018975,
    by_model: [{ cached_tokens: 1000, cache_savings: 0.0018975 }],
    by_key: [{ cached_tokens: 1000, cache_savings: 0.0018975 }],
  })
})
