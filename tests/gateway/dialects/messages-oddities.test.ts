import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { claude, events, framesOf, head, greeting, start, streamOf, usage } from './claude'
import { messages, path } from './messages-fixture'
import type { Json } from '../../providers/conformance/fixture'
import { sendRequest } from '../../harness/http'
import { upstreamSecret } from '../../harness/server'
import { openFront, type Front } from '../../providers/translated/front'

const baseRequest = { model: claude, max_tokens: 100, messages }

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    ANTHROPIC_API_KEY: upstreamSecret,
    ANTHROPIC_BASE_URL: url,
  }))
  await front.price(claude)
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const post = (body: Json) =>
  sendRequest(front.gateway, { path, key: front.customer.key, body: { ...baseRequest, ...body } })

describe('streams of Anthropic that are odd', () => {
  test('finding P6: an answer given whole in message_start comes back as it was', async () => {
    const content = [
      {
        type: 'tool_use',
        id: 'toolu_1',
        name: 'look',
        input: { at: 'sky' },
        caller: { type: 'x' },
      },
    ]
    const given: Json = {
      type: 'message_start',
      message: { ...head, content, stop_reason: 'tool_use', usage },
    }
    front.answer = () => streamOf([given, { type: 'message_stop' }])
    const answer = await post({ stream: true })
    const message = { ...head, content, stop_reason: 'tool_use', usage, model: claude }
    expect(answer.text).toBe(
      framesOf([{ type: 'message_start', message }, { type: 'message_stop' }]),
    )
    expect(await front.booked(answer)).toMatchObject({ inputTokens: 10, outputTokens: 2 })
  })

  test('finding P8: a second message spliced into the first ends in an error', async () => {
    const other = { ...start, message: { ...head, id: 'msg_other', content: [], usage } }
    front.answer = () => streamOf([...events.slice(0, 4), other, ...events.slice(2)])
    const answer = await post({ stream: true })
    expect(answer.text).not.toContain('msg_other')
    expect(answer.text).toContain('event: error')
    expect(answer.text).not.toContain('message_stop')
  })
})

describe('finding C7: the web search of Anthropic, where its price is known', () => {
  const searching = 'anthropic/claude-searching'
  const tool: Json = { type: 'web_search_20250305', name: 'web_search', max_uses: 2 }
  const searched = { ...usage, server_tool_use: { web_search_requests: 2 } }

  beforeAll(() =>
    front.price(searching, {
      pricing: { input: 1, output: 4, search: 0.01 },
      context_length: 200_000,
      max_output_tokens: 64_000,
    }),
  )

  test('is passed on as it came, and charged by the search', async () => {
    front.answer = () => Response.json({ ...greeting, usage: searched })
    const answer = await post({ model: searching, tools: [tool] })
    expect(answer.status).toBe(200)
    expect(front.requests[0]?.body['tools']).toEqual([tool])
    expect(answer.body['usage']).toEqual(searched)
    // 10 and 2 tokens, and two searches.
    expect(Number(answer.headers.get('x-tollgate-cost'))).toBeCloseTo(18e-6 + 0.02, 9)
  })

  test('a stream of it too', async () => {
    const last = events.map((event) =>
      event['type'] === 'message_delta'
        ? { ...event, usage: { output_tokens: 2, server_tool_use: { web_search_requests: 1 } } }
        : event,
    )
    front.answer = () => streamOf(last)
    const answer = await post({ model: searching, tools: [tool], stream: true })
    expect((await front.booked(answer)).cost).toBe(18_000n + 10_000_000n)
  })

  test('a search without a bound receives one, as it is held', async () => {
    front.answer = () => Response.json({ ...greeting, usage: searched })
    const { max_uses: _uses, ...unbounded } = tool
    await post({ model: searching, tools: [unbounded] })
    expect(front.requests[0]?.body['tools']).toEqual([{ ...unbounded, max_uses: 5 }])
  })

  test.each([
    [1e15, 400],
    [1001, 400],
    [1e300, 400],
    [1000, 200],
  ])('finding S33: a bound of %d uses is answered with %d', async (max_uses, status) => {
    front.answer = () => Response.json({ ...greeting, usage: searched })
    const rich = await front.gateway.customer({}, { credit: 100_000 })
    const look = { name: 'look', input_schema: { type: 'object' } }
    const body = { ...baseRequest, model: searching, tools: [look, { ...tool, max_uses }] }
    const answer = await sendRequest(front.gateway, { path, key: rich.key, body })
    expect(answer.status).toBe(status)
    if (status === 400) expect(answer.text).toContain('tools.1.max_uses: must be at most 1000.')
  })

  test('its maximum cost is held: searches, and the context read after each', async () => {
    front.answer = () => Response.json({ ...greeting, usage: searched })
    // Two searches and twice 200,000 tokens are 0.42 USD.
    const poor = await front.gateway.customer({}, { credit: 0.4 })
    const rich = await front.gateway.customer({}, { credit: 0.5 })
    const body = { ...baseRequest, model: searching, tools: [tool] }
    const [refused, taken] = [
      await sendRequest(front.gateway, { path, key: poor.key, body }),
      await sendRequest(front.gateway, { path, key: rich.key, body }),
    ]
    expect(refused.status).toBe(402)
    expect(taken.status).toBe(200)
    expect(front.requests).toHaveLength(1)
  })

  test('finding P10: pages that are fetched cost their tokens alone, and are bounded and held', async () => {
    front.answer = () =>
      Response.json({
        ...greeting,
        usage: { ...usage, server_tool_use: { web_fetch_requests: 3 } },
      })
    const fetching = { type: 'web_fetch_20250910', name: 'web_fetch' }
    const poor = await front.gateway.customer({}, { credit: 0.9 })
    const rich = await front.gateway.customer({}, { credit: 1.1 })
    const body = { ...baseRequest, model: searching, tools: [fetching] }
    // Five times 200,000 tokens are 1 USD.
    expect((await sendRequest(front.gateway, { path, key: poor.key, body })).status).toBe(402)
    const taken = await sendRequest(front.gateway, { path, key: rich.key, body })
    expect(taken.status).toBe(200)
    expect(front.requests.map((request) => request.body['tools'])).toEqual([
      [{ ...fetching, max_uses: 5 }],
    ])
    expect((await front.booked(taken)).cost).toBe(18_000n)
  })

  test.each(['code_execution_20250825', 'mcp_toolset', 'advisor_20260301'])(
    '%s has no price, and is rejected by name',
    async (type) => {
      const answer = await post({ model: searching, tools: [tool, { type, name: 'x' }] })
      expect(answer.status).toBe(400)
      expect(answer.text).toContain('tools.1.type')
      expect(front.requests).toEqual([])
    },
  )

  test.each([
    'bash_20250124',
    'text_editor_20250728',
    'computer_20251124',
    'computer_toolset_20260801',
    'browser_toolset_20260801',
    'memory_20250818',
    'tool_search_tool_bm25_20251119',
  ])('%s, which costs nothing of its own, is passed on', async (type) => {
    front.answer = () => Response.json({ ...greeting, usage })
    const tools = [{ type, name: 'x' }]
    const answer = await post({ model: searching, tools })
    expect(answer.status).toBe(200)
    expect(front.requests[0]?.body['tools']).toEqual(tools)
  })
})

const addition = (content: Json[] = []) => ({
  role: 'system',
  content: [{ type: 'tool_addition', tool: { type: 'tool_reference', name: 'look' } }, ...content],
})

describe('finding Q8: a turn of nothing but blocks that only Anthropic reads', () => {
  test.each([false, true])('passes as it came, stream: %p', async (stream) => {
    front.answer = () => (stream ? streamOf(events) : Response.json({ ...greeting, usage }))
    const turns = [...messages, addition(), addition([{ type: 'text', text: 'Look.' }])]
    const answer = await post({ messages: turns, stream })
    expect([answer.status, answer.error]).toEqual([200, {}])
    expect(front.requests[0]?.body['messages']).toEqual(turns)
  })

  test('is rejected by its own name for other models', async () => {
    const answer = await post({ model: 'sandbox/echo', messages: [...messages, addition()] })
    expect(answer.status).toBe(400)
    expect(answer.error.message).toContain('messages.1.content.0')
    expect(answer.error.message).toContain('tool_addition')
  })
})
