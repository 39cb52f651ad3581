import { describe, expect, test } from 'bun:test'
import { answer } from '.'

const hello = [{ role: 'user', content: 'Hello there, old friend' }]

const chat = (fields: object, signal = new AbortController().signal) =>
  answer({ path: '/chat/completions', body: { messages: hello, ...fields }, signal })

const read = async (response: Response) => JSON.parse(await response.text())

async function events(response: Response) {
  const blocks = (await response.text()).split('\n\n').filter((block) => block !== '')
  expect(blocks.at(-1)).toBe('data: [DONE]')
  return blocks.slice(0, -1).map((block) => JSON.parse(block.replace(/^data: /, '')))
}

async function firstChoice(fields: object) {
  const { choices } = await read(chat(fields))
  return choices[0]
}

describe('text', () => {
  test('echo repeats the last user message, its text parts joined', async () => {
    const image = { type: 'image_url', image_url: { url: 'data:' } }
    const content = [{ type: 'text', text: 'one ' }, image, { type: 'text', text: 'two' }]
    const messages = [...hello, { role: 'user', content }, { role: 'assistant', content: null }]
    const body = await read(chat({ model: 'echo', messages }))
    expect(body).toMatchObject({
      object: 'chat.completion',
      model: 'echo',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'one two', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      // Four words, two words and an image, and an empty message.
      usage: { prompt_tokens: 8, completion_tokens: 2, total_tokens: 10 },
    })
  })

  test('lorem has 120 tokens, or as many as the limit says up to 4,096', async () => {
    const usual = await read(chat({ model: 'lorem' }))
    expect(usual.usage.completion_tokens).toBe(120)
    expect(usual.choices[0].finish_reason).toBe('stop')
    for (const limit of [1, 50, 120, 4095]) {
      const { choices, usage } = await read(chat({ model: 'lorem', max_tokens: limit }))
      expect(choices[0].finish_reason).toBe('length')
      expect(usage.completion_tokens).toBe(limit)
    }
    const longest = await read(chat({ model: 'lorem', max_completion_tokens: 9999 }))
    expect(longest.usage.completion_tokens).toBe(4096)
    expect(longest.choices[0].finish_reason).toBe('stop')
  })

  test('is the same every time, and differs between the choices of lorem', async () => {
    const first = await read(chat({ model: 'lorem', n: 3 }))
    const second = await read(chat({ model: 'lorem', n: 3 }))
    expect(first.choices).toEqual(second.choices)
    const texts = first.choices.map((choice: { message: { content: string } }) => choice.message)
    expect(new Set(texts.map(({ content }: { content: string }) => content)).size).toBe(3)
  })

  test('the newer limit wins, and 0 means no limit', async () => {
    const both = { model: 'echo', max_tokens: 4, max_completion_tokens: 1 }
    expect(await firstChoice(both)).toMatchObject({
      message: { content: 'Hello' },
      finish_reason: 'length',
    })
    const none = await firstChoice({ model: 'echo', max_tokens: 0 })
    expect(none.message.content).toBe('Hello there, old friend')
  })

  test('ends before the first stop string, unless the limit came first', async () => {
    const stop = ['friend', ' old']
    expect(await firstChoice({ model: 'echo', stop })).toMatchObject({
      message: { content: 'Hello there,' },
      finish_reason: 'stop',
    })
    const limited = await firstChoice({ model: 'echo', stop, max_tokens: 1 })
    expect(limited.finish_reason).toBe('length')
  })

  test('a JSON format gives JSON', async () => {
    const json = { response_format: { type: 'json_object' }, max_tokens: 1000 }
    const echoed = await firstChoice({ model: 'echo', ...json })
    expect(JSON.parse(echoed.message.content)).toEqual({ echo: 'Hello there, old friend' })
    const prose = await firstChoice({ model: 'lorem', ...json })
    expect(JSON.parse(prose.message.content)).toEqual({ text: expect.any(String) })

    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    const format = { type: 'json_schema', json_schema: { name: 'place', schema } }
    const sampled = await firstChoice({ model: 'echo', response_format: format })
    expect(JSON.parse(sampled.message.content)).toEqual({ city: 'sample' })
  })
})

describe('streams', () => {
  test('role, slices, finish, usage: and the slices are the text', async () => {
    const fields = { model: 'lorem', stream: true, stream_options: { include_usage: true } }
    const response = chat({ ...fields, n: 2 })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const chunks = await events(response)
    const whole = await read(chat({ model: 'lorem', n: 2 }))

    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage })
    expect(chunks.slice(0, -1).some((chunk) => 'usage' in chunk)).toBe(false)
    for (const { index, message } of whole.choices) {
      const parts = chunks.flatMap(({ choices }) => choices).filter((part) => part.index === index)
      expect(parts[0].delta).toEqual({ role: 'assistant', content: '', refusal: null })
      expect(parts.map(({ delta }) => delta.content ?? '').join('')).toBe(message.content)
      const last = { index, delta: {}, logprobs: null, finish_reason: 'stop' }
      expect(parts.at(-1)).toEqual(last)
    }
  })

  test('without the option there is no usage chunk', async () => {
    const chunks = await events(chat({ model: 'echo', stream: true }))
    expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false)
  })

  test('a megabyte without a space arrives in small chunks, no emoji in halves', async () => {
    const content = '😀'.repeat(600_000)
    const messages = [{ role: 'user', content }]
    const chunks = await events(chat({ model: 'echo', messages, stream: true }))
    const slices = chunks.map(({ choices }) => choices[0].delta.content ?? '')
    expect(Math.max(...slices.map(({ length }) => length))).toBeLessThanOrEqual(1024)
    // The answer itself ends at 2^20 units.
    expect(slices.join('')).toBe(content.slice(0, 2 ** 20))
    expect(chunks.at(-1).choices[0].finish_reason).toBe('length')
  })

  test('is pulled, and fails once the signal aborts', async () => {
    const cut = new AbortController()
    const response = chat({ model: 'lorem', stream: true }, cut.signal)
    const reader = response.body?.getReader()
    expect((await reader?.read())?.done).toBe(false)
    cut.abort(new Error('client gone'))
    await expect(reader?.read()).rejects.toThrow('client gone')
  })
})

describe('tools', () => {
  const parameters = {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 3 } },
    required: ['city', 'days'],
  }
  const tool = (name: string) => ({ type: 'function', function: { name, parameters } })
  const tools = [tool('weather'), tool('tides')]
  const names = async (fields: object) => {
    const choice = await firstChoice({ model: 'tools', tools, ...fields })
    return (choice.message.tool_calls ?? []).map(
      (call: { function: { name: string } }) => call.function.name,
    )
  }

  test('calls the first tool with arguments that fit its schema', async () => {
    const choice = await firstChoice({ model: 'tools', tools })
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } })
    const [call] = choice.message.tool_calls
    expect(call).toMatchObject({ type: 'function', function: { name: 'weather' } })
    expect(call.id).toMatch(/^call_\w{26}$/)
    expect(JSON.parse(call.function.arguments)).toEqual({ city: 'sample', days: 3 })
  })

  test('heeds tool_choice', async () => {
    const choice = { type: 'function', function: { name: 'tides' } }
    expect(await names({ tool_choice: choice })).toEqual(['tides'])
    expect(await names({ tool_choice: 'none' })).toEqual([])
    expect(await names({ tool_choice: 'required' })).toEqual(['weather'])
    const unknown = { type: 'function', function: { name: 'stars' } }
    const refused = chat({ model: 'tools', tools, tool_choice: unknown })
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error: { param: 'tool_choice' } })
  })

  test('calls two if both are requested, unless parallel calls are off', async () => {
    const messages = [{ role: 'user', content: 'Tell me both.' }]
    expect(await names({ messages })).toEqual(['weather', 'tides'])
    expect(await names({ messages, parallel_tool_calls: false })).toEqual(['weather'])
  })

  test('streams each call under its index, arguments in fragments', async () => {
    const messages = [{ role: 'user', content: 'Tell me both.' }]
    const chunks = await events(chat({ model: 'tools', tools, messages, stream: true }))
    const deltas = chunks.flatMap(({ choices }) => choices[0].delta.tool_calls ?? [])
    for (const index of [0, 1]) {
      const choiceDeltas = deltas.filter((delta) => delta.index === index)
      expect(choiceDeltas[0]).toMatchObject({ id: expect.any(String), function: { arguments: '' } })
      expect(choiceDeltas.slice(1).some((delta) => 'id' in delta || 'name' in delta.function)).toBe(
        false,
      )
      const text = choiceDeltas.map((delta) => delta.function.arguments).join('')
      expect(JSON.parse(text)).toEqual({ city: 'sample', days: 3 })
    }
    expect(chunks.at(-1).choices[0].finish_reason).toBe('tool_calls')
  })

  test('cites the results, and reports the lack of a tool', async () => {
    const results = ['12 degrees', 'high at noon'].map((content, index) => ({
      role: 'tool',
      tool_call_id: `call_${index}`,
      content,
    }))
    const cited = await firstChoice({ model: 'tools', tools, messages: [...hello, ...results] })
    expect(cited.message.content).toBe('The tool answered: 12 degrees; high at noon')
    expect(cited.finish_reason).toBe('stop')
    expect((await firstChoice({ model: 'tools' })).message.content).toContain('no tool')
  })
})

describe('refusals', () => {
  const error = { type: 'invalid_request_error', message: expect.any(String) }

  test.each(['gpt-4o', 'embedding', ''])('model %p: 404', async (model) => {
    const response = chat({ model })
    expect(response.status).toBe(404)
    const expected = { ...error, param: 'model', code: 'model_not_found' }
    expect(await response.json()).toEqual({ error: expected })
  })

  test.each([
    [{ messages: [] }, 'messages'],
    [{ messages: [{ content: 'x' }] }, 'messages.0.role'],
    [{ n: 9 }, 'n'],
    [{ max_tokens: -1 }, 'max_tokens'],
    [{ response_format: { type: 'xml' } }, 'response_format.type'],
    [{ model: 7 }, 'model'],
  ])('%j: 400 that names the field', async (fields, param) => {
    const response = chat({ model: 'echo', ...fields })
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({ error: { ...error, param, code: null } })
  })

  test.each([[null], [undefined], ['text'], [7], [[]]])('a body of %p: 400', (body) => {
    const signal = new AbortController().signal
    for (const path of ['/chat/completions', '/completions', '/embeddings'] as const) {
      expect(answer({ path, body, signal }).status).toBe(400)
    }
  })

  test('null is absent for every optional field', () => {
    const optional = {
      n: null,
      stop: null,
      stream: null,
      stream_options: null,
      max_tokens: null,
      max_completion_tokens: null,
      tools: null,
      tool_choice: null,
      parallel_tool_calls: null,
      response_format: null,
    }
    expect(chat({ model: 'tools', ...optional }).status).toBe(200)
  })
})
