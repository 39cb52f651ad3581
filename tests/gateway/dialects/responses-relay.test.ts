import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import {
  completed,
  created,
  head,
  hello,
  item,
  model,
  numbered,
  opening,
  path,
  usage,
} from './relayed-answer'
import { eventsIn, lastResponse, typesOf } from './response-events'
import type { Json } from '../../providers/conformance/fixture'
import { isIdentifier } from '../../harness/account-identifiers'
import { upstreamSecret } from '../../harness/server'
import { openFront, type Front } from '../../providers/translated/front'

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    OPENAI_API_KEY: upstreamSecret,
    OPENAI_BASE_URL: `${url}/v1`,
  }))
  for (const name of codexModels) await front.price(`openai/${name}`)
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

/** The models of finding C1: what Codex sends to them was refused. */
const codexModels = [
  'gpt-5.6-luna',
  'gpt-5.6-sol',
  'gpt-5.6-terra',
  'gpt-6-astra',
  'gpt-6-luna',
  'gpt-6-sol',
  'gpt-6.1-sol',
  'gpt-6.1-terra',
]
const lookup = { type: 'function', name: 'lookup', parameters: { type: 'object' }, strict: false }
const demo = { type: 'namespace', name: 'mcp__demo', description: 'Demo.', tools: [lookup] }
const exec = {
  type: 'custom',
  name: 'exec',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' },
}

/** A first turn as Codex 0.169 writes it for a model that it knows as "Responses Lite". */
const liteTurn = (name: string, ...servers: Json[]): Json => ({
  model: name,
  input: [
    {
      type: 'additional_tools',
      id: 'at_01a20aac-0131-7020-b865-2baca216e573',
      role: 'developer',
      tools: [{ type: 'namespace', name: 'functions', description: '', tools: [exec] }, ...servers],
    },
    {
      type: 'message',
      id: 'msg_01a20aac-0131-7020-b865-2bb784a06ac0',
      role: 'developer',
      content: [{ type: 'input_text', text: 'You are Codex.' }],
    },
    {
      type: 'message',
      id: 'msg_01a20aac-028b-7b72-a35f-81934be414be',
      role: 'user',
      content: [{ type: 'input_text', text: 'Say hello' }],
    },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: false,
  reasoning: { effort: 'medium', context: 'all_turns' },
  store: false,
  stream: true,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: '01a20aab-ff30-7f02-9fc2-ca42301ce57e',
  text: { verbosity: 'low' },
  client_metadata: { session_id: '01a20aab-ff30-7f02-9fc2-ca42301ce57e' },
})

describe.each(codexModels)('finding C1: %s', (name) => {
  test.each([
    ['without MCP', []],
    ['with MCP', [demo]],
  ])('a first turn of Codex %s arrives as it was sent', async (_how, servers) => {
    front.answer = hello
    const turn = liteTurn(`openai/${name}`, ...servers)
    const answer = await front.post(path, turn)
    expect([answer.status, answer.headers.get('x-tollgate-omitted')]).toEqual([200, null])
    const [request] = front.requests
    expect(request?.path).toBe(path)
    const { prompt_cache_key: _key, ...sent } = turn
    expect(request?.body).toEqual({ ...sent, model: name })
    const whole: Json = JSON.parse(request?.text ?? '')
    expect(whole['prompt_cache_key']).toSatisfy(isIdentifier)
    const events = eventsIn(answer.text)
    expect(lastResponse(events)).toMatchObject({ status: 'completed', output: [item] })
    expect(await front.booked(answer)).toMatchObject({ cost: 220_000n, estimated: false })
  })
})

describe('an answer', () => {
  const strange = { id: 'x_1', type: 'made_up_call', name: 1, arguments: { deep: [1] } }
  const sources = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: {} }

  test('finding P8: passes unknown items and events on', async () => {
    front.answer = () =>
      numbered([
        created,
        { type: 'response.output_item.added', output_index: 0, item: strange },
        { type: 'response.made_up_call.progress', output_index: 0, percent: 1.0 },
        { type: 'response.output_item.done', output_index: 0, item: strange },
        {
          ...completed,
          response: { ...completed.response, output: [strange, sources], made_up: 1 },
        },
      ])
    const answer = await front.post(path, { model, input: 'Hi.', stream: true })
    const events = eventsIn(answer.text)
    expect(typesOf(events)).toEqual([
      'response.created',
      'response.output_item.added',
      'response.made_up_call.progress',
      'response.output_item.done',
      'response.completed',
    ])
    expect(events[1]?.['item']).toEqual(strange)
    const id = `resp_${answer.headers.get('x-request-id')?.slice('req_'.length)}`
    expect(lastResponse(events)).toMatchObject({
      id,
      model,
      made_up: 1,
      output: [strange, sources],
    })
    expect(await front.booked(answer)).toMatchObject({ cost: 220_000n, estimated: false })
  })

  test('as a whole, too', async () => {
    const output = [strange, item]
    front.answer = () => Response.json({ ...head, status: 'completed', output, usage, made_up: 1 })
    const answer = await front.post(path, { model, input: 'Hi.' })
    expect(answer.body).toMatchObject({ model, made_up: 1, output })
    expect(answer.body['id']).not.toBe('resp_theirs')
    expect(await front.booked(answer)).toMatchObject({ cost: 220_000n, estimated: false })
  })

  test('is a status when it fails before it began, and free of charge', async () => {
    const error = { code: 'server_error', message: 'It broke.' }
    front.answer = () => Response.json({ ...head, status: 'failed', output: [], error })
    const answer = await front.post(path, { model, input: 'Hi.' })
    expect([answer.status, answer.error['code']]).toEqual([502, 'provider_error'])
  })

  test('continues as it was when it fails in the middle, and its text is paid', async () => {
    const error = { code: 'server_error', message: 'It broke.' }
    const failed = { ...head, status: 'failed', output: [], error, usage }
    front.answer = () => numbered([...opening, { type: 'response.failed', response: failed }])
    const answer = await front.post(path, { model, input: 'Hi.', stream: true })
    const events = eventsIn(answer.text)
    expect(typesOf(events)).toEqual([...typesOf(opening), 'response.failed'])
    const [first] = events
    expect(lastResponse(events)).toMatchObject({
      id: lastResponse([first ?? {}])['id'],
      status: 'failed',
      error: { code: 'server_error', details: { code: 'provider_error' } },
    })
    const booked = await front.booked(answer)
    expect(booked).toMatchObject({ estimated: true, outputTokens: 2 })
    expect(booked.inputTokens).toBeWithin(1, 200)
  })

  test('has failed without a last event', async () => {
    front.answer = () => numbered(opening)
    const answer = await front.post(path, { model, input: 'Hi.', stream: true })
    expect(typesOf(eventsIn(answer.text)).at(-1)).toBe('response.failed')
  })

  test('reports that it is incomplete, and is paid by its count', async () => {
    const incomplete = {
      ...head,
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [item],
      usage,
    }
    front.answer = () =>
      numbered([...opening, { type: 'response.incomplete', response: incomplete }])
    const answer = await front.post(path, { model, input: 'Hi.', stream: true })
    expect(lastResponse(eventsIn(answer.text))).toMatchObject({ status: 'incomplete', usage })
    expect(await front.booked(answer)).toMatchObject({ cost: 220_000n, estimated: false })
  })
})

describe('on the platform’s key', () => {
  test('an answer of another account is not read', async () => {
    front.answer = hello
    for (const fields of [
      { previous_response_id: 'resp_theirs' },
      { conversation: 'conv_theirs' },
      { input: [{ type: 'item_reference', id: 'msg_theirs' }] },
    ]) {
      const answer = await front.post(path, { model, input: 'Hi.', ...fields })
      expect([answer.status, answer.error['code']]).toEqual([400, 'invalid_request'])
    }
    expect(front.requests).toEqual([])
  })

  test('rejects a tool without a price by name, before a provider is called', async () => {
    const tools = [{ type: 'file_search', vector_store_ids: [] }]
    const answer = await front.post(path, { model, input: 'Hi.', tools })
    expect(answer.error['param']).toStartWith('tools.0')
    expect(front.requests).toEqual([])
  })

  test('a refusal of the provider names the caller’s own field', async () => {
    const error = { message: 'Unknown item.', param: 'input[0].type', code: 'unknown' }
    front.answer = () => Response.json({ error }, { status: 400 })
    const answer = await front.post(path, { model, input: [{ type: 'program' }] })
    expect([answer.status, answer.error['param']]).toEqual([400, 'input[0].type'])
  })
})
