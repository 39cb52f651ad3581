import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { type FakeProvider, startFakeProvider } from './fake-provider'

let upstream: FakeProvider
beforeAll(async () => {
  upstream = await startFakeProvider()
})
beforeEach(() => upstream.reset())
afterAll(() => upstream[Symbol.asyncDispose]())

type Json = Record<string, unknown>

const messages = [{ role: 'user', content: [{ type: 'text', text: 'say hello please' }] }]

const post = (model: string, own: Json = {}) =>
  fetch(`${upstream.url}/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'sk-canary-7' },
    body: JSON.stringify({ model, max_tokens: 100, stream: true, messages, ...own }),
  })

/** The events of a stream, each under the name of its type and none of them `[DONE]`. */
async function events(model: string, own?: Json): Promise<Json[]> {
  const blocks = (await (await post(model, own)).text()).split('\n\n').filter(Boolean)
  return blocks.map((block) => {
    const [name = '', data = ''] = block.split('\n')
    const event: Json = JSON.parse(data.slice('data: '.length))
    expect(name).toBe(`event: ${String(event['type'])}`)
    return event
  })
}

const start = (index: number, content_block: Json) => ({
  type: 'content_block_start',
  index,
  content_block,
})
const delta = (index: number, own: Json) => ({ type: 'content_block_delta', index, delta: own })
const stop = (index: number) => ({ type: 'content_block_stop', index })

test('text is in one block, between the tokens read and the tokens written', async () => {
  const all = await events('ok', { max_tokens: 2 })
  expect(all).toMatchObject([
    { type: 'message_start', message: { usage: { input_tokens: 3, output_tokens: 1 } } },
    { type: 'ping' },
    start(0, { type: 'text', text: '' }),
    delta(0, { type: 'text_delta', text: 'All' }),
    delta(0, { type: 'text_delta', text: ' is' }),
    stop(0),
    {
      type: 'message_delta',
      delta: { stop_reason: 'max_tokens', stop_sequence: null },
      usage: { output_tokens: 2 },
    },
    { type: 'message_stop' },
  ])
  expect(upstream.bill('ok')).toMatchObject({ promptTokens: 3, completionTokens: 2 })
})

test('calls are blocks of their own, their input in pieces', async () => {
  const all = await events('tool-together')
  const opened = all.filter(({ type }) => type === 'content_block_start')
  expect(opened).toEqual([
    start(0, { type: 'tool_use', id: 'call_a', name: 'get_weather', input: {} }),
    start(1, { type: 'tool_use', id: 'call_b', name: 'get_time', input: {} }),
  ])
  expect(all).toContainEqual(
    delta(1, { type: 'input_json_delta', partial_json: '{"zone": "America/Sao_Paulo"}' }),
  )
  expect(all.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' } })
})

test('the tool that a request forces is called', async () => {
  const input_schema = { type: 'object', properties: { n: { type: 'integer' } } }
  const tools = [
    { name: 'first', input_schema },
    { name: 'second', input_schema },
  ]
  for (const [tool_choice, name] of [
    [{ type: 'any' }, 'first'],
    [{ type: 'tool', name: 'second' }, 'second'],
  ]) {
    const all = await events('ok', { tools, tool_choice })
    expect(all).toContainEqual(
      expect.objectContaining({ content_block: expect.objectContaining({ name }) }),
    )
  }
  const free = await events('ok', { tools, tool_choice: { type: 'auto' } })
  expect(free.at(-2)).toMatchObject({ delta: { stop_reason: 'end_turn' } })
})

test('thoughts end in a signature', async () => {
  const all = await events('reasoning')
  const end = all.findIndex(({ type }) => type === 'content_block_stop')
  expect(all[end - 1]).toMatchObject({ index: 0, delta: { type: 'signature_delta' } })
  expect(all[end + 1]).toEqual(start(1, { type: 'text', text: '' }))
})

test('errors are in its words, before a stream and inside one', async () => {
  const refused = await post('status-529')
  expect(refused.status).toBe(529)
  expect(await refused.json()).toMatchObject({
    type: 'error',
    error: { type: 'overloaded_error', message: 'The fake provider failed.' },
  })
  const text = await (await post('err-after-1')).text()
  expect(text.trim().split('\n').at(-1)).toStartWith('data: {"type":"error","error":{')
})
