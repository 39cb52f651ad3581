import { describe, expect, test } from 'bun:test'
import { objectIn, rows, createSessionClient } from './talk'
import { useToolFixture } from './tool-fixture'
import { tool } from './tool-server'
import { parsed, type Stream } from '../../harness/http'
import { accountOf, nanosOf } from '../../harness/ledger'

const dollar = 1_000_000_000n

const { fixture, session, sent, events } = useToolFixture()

const chunksOf = ({ text }: Stream) =>
  text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => parsed(event.slice('data: '.length)))

describe('a message of a session with a gateway', () => {
  test('runs the tools that its model calls, keeps every step, and pays each call once', async () => {
    const { billing, tools } = fixture()
    const own = await billing.rig.gateway.customer({}, { credit: 1 })
    const theirs = createSessionClient(billing.rig.gateway, own)
    const id = await session('tool-rounds-2', {}, theirs)
    const answer = await theirs.send(id, 'Look.')
    expect(answer.status).toBe(201)
    expect(tools.ran.map(({ name, arguments: args }) => [name, args])).toEqual(
      ['1.1', '1.2', '2.1', '2.2'].map((number) => ['echo', { text: `round ${number}` }]),
    )
    expect(tools.ran[0]).toMatchObject({ timeoutMs: 60_000, maxBytes: 65_536 })
    expect(await theirs.transcript(id)).toEqual([
      'user: Look.',
      'assistant: null',
      'tool: {"text":"round 1.1"}',
      'tool: {"text":"round 1.2"}',
      'assistant: null',
      'tool: {"text":"round 2.1"}',
      'tool: {"text":"round 2.2"}',
      'assistant: Done after 2 rounds.',
    ])
    const conversation = rows(await theirs.api(`GET /sessions/${id}/conversation`), 'messages')
    expect(conversation[1]?.['tool_calls']).toMatchObject([
      { id: 'call_fake_1', function: { name: 'echo', arguments: '{"text":"round 1.1"}' } },
      { id: 'call_fake_2' },
    ])
    expect(rows(answer, 'toolMessages')).toEqual(
      [2, 3, 5, 6].map((at) => ({ ...conversation[at], tokens: expect.any(Number) })),
    )
    expect(objectIn(answer, 'assistantMessage')).toEqual(conversation[7] ?? {})
    // Three requests to the model, each with all that was said before it.
    expect(sent().map(({ messages }) => Object(messages).length)).toEqual([1, 4, 7])
    expect(sent()[0]?.['tools']).toMatchObject([
      { type: 'function', function: { name: 'echo', description: 'The echo tool.' } },
      { type: 'function', function: { name: 'look' } },
    ])
    const booked = await events(own)
    expect(booked.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok'])
    expect(new Set(booked.map(({ request_id }) => request_id)).size).toBe(3)
    expect(booked[0]?.request_id).toBe(answer.headers.get('x-request-id') ?? '')
    const cost = booked.reduce((sum, event) => sum + BigInt(event.cost), 0n)
    expect((await accountOf(billing.sql, own)).posted).toBe(dollar - cost)
    const view = await theirs.get(id)
    expect([nanosOf(view['totalCost']), view['messageCount']]).toEqual([cost, 8])
    const usage = objectIn(answer, 'usage')
    expect(view['totalTokens']).toEqual({
      input: Number(usage['prompt_tokens']),
      output: Number(usage['completion_tokens']),
    })
    // The next message takes all of it along.
    expect((await theirs.send(id, 'Again.')).status).toBe(201)
    expect(Object(sent()[3]?.['messages']).length).toBe(9)
  })

  test('is one stream: steps as they come, one id, one finish', async () => {
    const { talk } = fixture()
    const id = await session('tool-rounds-2')
    const streamed = await talk.stream(id, 'Look.')
    expect([streamed.status, streamed.isDone, streamed.content]).toEqual([
      200,
      true,
      'Done after 2 rounds.',
    ])
    expect(chunksOf(streamed).flatMap((chunk) => chunk['tool_message'] ?? [])).toEqual(
      Object.entries({
        '1.1': 'call_fake_1',
        '1.2': 'call_fake_2',
        // The provider gives each round the same ids; a conversation has each of them once.
        '2.1': 'call_fake_1__repeat__2',
        '2.2': 'call_fake_2__repeat__2',
      }).map(([number, id]) => ({
        role: 'tool',
        tool_call_id: id,
        content: JSON.stringify({ text: `round ${number}` }),
      })),
    )
    expect(await talk.transcript(id)).toHaveLength(8)
    expect(await talk.get(id)).toMatchObject({ messageCount: 8, status: 'active' })
  })

  test('is read by the official client, which sees one answer', async () => {
    const { customer } = fixture()
    const id = await session('tool-rounds-2')
    const stream = await customer.client.chat.completions
      .create(
        { model: 'any', messages: [], stream: true },
        {
          path: `/../api/automation/sessions/${id}/messages`,
          body: { content: 'Look.', stream: true },
        },
      )
      .withResponse()
      .then(({ data }) => data)
    let content = ''
    const finishes: unknown[] = []
    // As naive as a reader gets.
    for await (const { choices } of stream) {
      content += choices[0]?.delta.content ?? ''
      if (choices[0]?.finish_reason) finishes.push(choices[0].finish_reason)
    }
    expect([content, finishes]).toEqual(['Done after 2 rounds.', ['stop']])
  })

  test('A13: runs nothing that its owner did not list', async () => {
    const { billing, talk, tools } = fixture()
    // The fake model calls whatever is listed first, or a tool that was not offered.
    const none = await session('tool-rounds-1', { enabledTools: [] })
    const answer = await talk.send(none, 'Look.')
    expect(answer.status).toBe(201)
    expect([tools.ran, sent()[0]?.['tools']]).toEqual([[], undefined])
    expect(rows(answer, 'toolMessages')[0]?.['content']).toStartWith(
      'Error: this session has no such tool',
    )

    const fewer = { enabledTools: ['echo', 'look', 'shell'], disabledTools: ['echo'] }
    expect((await talk.send(await session('tool-rounds-1', fewer), 'Look.')).status).toBe(201)
    expect(new Set(tools.ran.map(({ name }) => name))).toEqual(new Set(['look']))
    const chat = await talk.session({ modelId: await billing.rig.model('tool-rounds-1') })
    expect((await talk.send(chat, 'Look.')).body['toolMessages']).toEqual([])
    expect(tools.ran).toHaveLength(2)
  })

  test('needs its gateway', async () => {
    const { talk, tools } = fixture()
    const id = await session('tool-rounds-1')
    tools.announced = undefined
    const offline = await talk.send(id, 'Look.')
    expect([offline.status, offline.error.code]).toEqual([503, 'gateway_unavailable'])
    expect(await talk.transcript(id)).toEqual([])
    tools.announced = [tool('echo')]
    tools.run = () => Promise.reject(new Error('lost'))
    const lost = await talk.send(id, 'Look.')
    expect([lost.status, lost.error.code]).toEqual([502, 'connection_failed'])
    expect(lost.headers.get('x-should-retry')).toBe('false')
    const streamed = await talk.stream(id, 'Look again.')
    expect([streamed.status, streamed.error.code, streamed.isDone]).toEqual([
      200,
      'connection_failed',
      false,
    ])
    // What was said stays, and the session goes on: calls without a result are answered for it.
    tools.run = () => 'Found.'
    expect((await talk.send(id, 'And now?')).status).toBe(201)
    expect(await talk.transcript(id)).toEqual([
      'user: Look.',
      'assistant: null',
      'user: Look again.',
      'assistant: null',
      'user: And now?',
      'assistant: null',
      'tool: Found.',
      'tool: Found.',
      'assistant: Done after 1 rounds.',
    ])
  })
})
