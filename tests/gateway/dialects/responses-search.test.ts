import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Json } from '../../providers/conformance/fixture'
import { sendRequest, type Answer } from '../../harness/http'
import { upstreamSecret } from '../../harness/server'
import { eventsOf, openFront, type Front } from '../../providers/translated/front'

const model = 'openai/gpt-searching'
const path = '/v1/responses'

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    OPENAI_API_KEY: upstreamSecret,
    OPENAI_BASE_URL: `${url}/v1`,
  }))
  await front.price(model, {
    pricing: { input: 1, output: 4, search: 0.01 },
    context_length: 1_000_000,
    max_output_tokens: 1000,
  })
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const usage = { input_tokens: 9000, output_tokens: 100, total_tokens: 9100 }
const tokens = 9_400_000n
const search = { type: 'web_search', search_context_size: 'low' }
const searched = {
  id: 'ws_1',
  type: 'web_search_call',
  status: 'completed',
  action: { type: 'search', queries: ['news'] },
}
const opened = { ...searched, id: 'ws_2', action: { type: 'open_page', url: 'https://a.test' } }
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'News. '.repeat(80), annotations: [] }],
}
const response = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'gpt-searching',
  output: [searched, opened, message],
  usage,
}
const counted = (count: unknown) => ({ tool_usage: { web_search: { num_requests: count } } })

const post = (body: Json, key = front.customer.key): Promise<Answer> =>
  sendRequest(front.gateway, {
    path,
    key,
    body: { model, input: 'News?', tools: [search], ...body },
  })

describe('finding P10: OpenAI’s web search on the operator’s key, where a search has a price', () => {
  test.each<[string, Json, bigint]>([
    ['as the provider counts', counted(2), 20_000_000n],
    ['by its searches where it counts none', {}, 10_000_000n],
    ['not beyond the hold', counted(1_000_000), 30_000_000n],
    ['by its searches if the count is invalid', counted('2'), 10_000_000n],
  ])('is charged by the search: %s', async (_how, searchUsage, fee) => {
    front.answer = () => Response.json({ ...response, ...searchUsage })
    const answer = await post({ max_tool_calls: 3 })
    expect(answer.status).toBe(200)
    expect(front.requests[0]?.body).toMatchObject({ tools: [search], max_tool_calls: 3 })
    expect((await front.booked(answer)).cost).toBe(tokens + fee)
  })

  test('finding S33: a bound above 1,000 calls is rejected by its name', async () => {
    const answer = await post({ max_tool_calls: 1e15 })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('max_tool_calls: must be at most 1000.')
    expect(front.requests).toEqual([])
  })

  test('in a stream, too', async () => {
    const { output, ...head } = response
    const items = output.map((item, output_index) => ({
      type: 'response.output_item.done',
      output_index,
      item,
    }))
    front.answer = () =>
      eventsOf(
        { type: 'response.created', response: { ...head, status: 'in_progress', output: [] } },
        ...items,
        { type: 'response.completed', response: { ...response, ...counted(2) } },
      )
    const answer = await post({ stream: true })
    expect(answer.text).toContain('"web_search_call"')
    expect((await front.booked(answer)).cost).toBe(tokens + 20_000_000n)
  })

  test('a stream that breaks after a search has it charged', async () => {
    const { output: _output, ...head } = response
    front.answer = () =>
      eventsOf(
        { type: 'response.created', response: { ...head, status: 'in_progress', output: [] } },
        { type: 'response.output_item.done', output_index: 0, item: searched },
        { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'News' },
      )
    const answer = await post({ stream: true })
    const { cost, estimated } = await front.booked(answer)
    expect(estimated).toBe(true)
    expect(cost).toBeGreaterThan(10_000_000n)
    expect(cost).toBeLessThan(11_000_000n)
  })

  test('its maximum cost is held: searches, and 128,000 tokens read after each', async () => {
    front.answer = () => Response.json(response)
    // Five searches and five times 128,000 tokens are 0.69 USD, the answer and the prompt below 0.01.
    const poor = await front.gateway.customer({}, { credit: 0.68 })
    const rich = await front.gateway.customer({}, { credit: 0.71 })
    expect((await post({}, poor.key)).status).toBe(402)
    expect((await post({}, rich.key)).status).toBe(200)
    expect(front.requests).toHaveLength(1)
    expect(front.requests[0]?.body['max_tool_calls']).toBe(5)
  })

  test('default tools beside other tools are left out and named; nothing is held', async () => {
    front.answer = () => Response.json({ ...response, output: [message] })
    const look = { type: 'function', name: 'look', parameters: { type: 'object' } }
    const poor = await front.gateway.customer({}, { credit: 0.05 })
    const answer = await post({ tools: [look, search] }, poor.key)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-tollgate-omitted')).toBe('tools.1.type')
    expect(front.requests[0]?.body['tools']).toEqual([look])
  })
})
