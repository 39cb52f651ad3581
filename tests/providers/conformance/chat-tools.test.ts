import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { ChatCompletionMessage } from 'openai/resources/chat/completions'
import { hello, createFixture, type Fixture } from './fixture'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const weather = { city: 'São Paulo', unit: 'celsius' }
const time = { zone: 'America/Sao_Paulo' }

/** The calls of a message, arguments parsed; that alone fails where they are no JSON. */
const callsOf = (message: ChatCompletionMessage | undefined) =>
  (message?.tool_calls ?? []).map((call) => {
    if (call.type !== 'function') throw new Error(`a call of type ${call.type}`)
    return { id: call.id, name: call.function.name, args: JSON.parse(call.function.arguments) }
  })

const cases: [string, { name: string; args: unknown }[]][] = [
  ['tool-fragments', [{ name: 'get_weather', args: weather }]],
  [
    'tool-interleaved',
    [
      { name: 'get_weather', args: weather },
      { name: 'get_time', args: time },
    ],
  ],
  [
    'tool-together',
    [
      { name: 'get_weather', args: weather },
      { name: 'get_time', args: time },
    ],
  ],
  ['tool-whole-no-index', [{ name: 'get_weather', args: weather }]],
  ['tool-no-args', [{ name: 'get_time', args: {} }]],
]

describe.each(cases)('R11 R12 R13: %s', (name, wanted) => {
  test('is whole calls in a whole answer', async () => {
    const model = await fixture.model(name)
    const answer = await fixture.client.chat.completions.create({ model, messages: hello })
    const [choice] = answer.choices
    expect(callsOf(choice?.message)).toMatchObject(wanted)
    expect(choice?.message.content).toBeNull()
    expect(choice?.finish_reason).toBe('tool_calls')
  })

  test('is the same calls through the stream of the client', async () => {
    const model = await fixture.model(name)
    const stream = fixture.client.chat.completions.stream({ model, messages: hello })
    const [choice] = (await stream.finalChatCompletion()).choices
    const calls = callsOf(choice?.message)
    expect(calls).toMatchObject(wanted)
    expect(new Set(calls.map(({ id }) => id)).size).toBe(wanted.length)
    expect(choice?.finish_reason).toBe('tool_calls')
  })

  test('comes one call a chunk, named once, its arguments after its name', async () => {
    const model = await fixture.model(name)
    const stream = await fixture.client.chat.completions.create({
      model,
      messages: hello,
      stream: true,
    })
    const deltas = (await Array.fromAsync(stream)).flatMap(
      ({ choices }) => choices[0]?.delta.tool_calls ?? [],
    )
    const heads = deltas.filter(({ id }) => id !== undefined)
    expect(heads.map((head) => head.function)).toEqual(
      wanted.map((call) => ({ name: call.name, arguments: '' })),
    )
    expect(heads.map(({ index }) => index)).toEqual(wanted.map((_call, index) => index))
  })
})

const tool = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'The weather of a city.',
    strict: true,
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
  },
}

test.each(['ok', 'tool-finish-stop'])(
  'R13: a forced tool of %s ends in tool_calls, whole and streamed',
  async (name) => {
    const model = await fixture.model(name)
    const params = { model, messages: hello, tools: [tool], tool_choice: 'required' as const }
    const whole = await fixture.client.chat.completions.create(params)
    const streamed = await fixture.client.chat.completions.stream(params).finalChatCompletion()
    for (const { choices } of [whole, streamed]) {
      expect(choices[0]?.finish_reason).toBe('tool_calls')
      expect(callsOf(choices[0]?.message)).toMatchObject([
        { name: 'get_weather', args: { city: 'text' } },
      ])
    }
  },
)

test('a tool of the client is run with its arguments, and its result goes back', async () => {
  const model = await fixture.model('ok')
  const seen: unknown[] = []
  const run = async (args: unknown) => {
    seen.push(args)
    return 'sunny'
  }
  const tools = [
    {
      type: 'function' as const,
      function: {
        ...tool.function,
        parse: (text: string): unknown => JSON.parse(text),
        function: run,
      },
    },
  ]
  const choice = { type: 'function' as const, function: { name: 'get_weather' } }
  const runner = fixture.client.chat.completions.runTools({
    model,
    messages: hello,
    tools,
    tool_choice: choice,
    stream: true,
  })
  await runner.done()
  expect(seen).toEqual([{ city: 'text' }])

  const messages = [...runner.messages, ...hello]
  await fixture.client.chat.completions.create({ model, messages })
  expect(fixture.sent()['messages']).toMatchObject([
    { role: 'user' },
    { role: 'assistant', tool_calls: [{ id: 'call_fake_1' }] },
    { role: 'tool', tool_call_id: 'call_fake_1', content: 'sunny' },
    { role: 'user' },
  ])
})

test('tools, their choice and their history arrive as they were sent', async () => {
  const model = await fixture.model('ok')
  const params = {
    messages: [
      ...hello,
      {
        role: 'assistant' as const,
        tool_calls: [
          {
            id: 'a',
            type: 'function' as const,
            function: { name: 'get_weather', arguments: '{}' },
          },
          {
            id: 'b',
            type: 'function' as const,
            function: { name: 'get_weather', arguments: '{}' },
          },
        ],
      },
      { role: 'tool' as const, tool_call_id: 'a', content: 'sunny' },
      { role: 'tool' as const, tool_call_id: 'b', content: 'rain' },
    ],
    tools: [tool],
    tool_choice: { type: 'function' as const, function: { name: 'get_weather' } },
    parallel_tool_calls: false,
  }
  await fixture.client.chat.completions.create({ model, ...params })
  expect(fixture.sent()).toEqual({ model: 'ok', ...params })
})
