import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { doors, type Door } from './thinking-doors'
import { longSignature, text, thinkingProviders, type ThinkingProvider } from './thinking-providers'
import { jsonOf, type Json } from '../../providers/conformance/fixture'
import { upstreamSecret } from '../../harness/server'
import { openFront, type Front } from '../../providers/translated/front'

let front: Front

const providers = Object.entries(thinkingProviders)
const formats = Object.entries(doors)
const made = { category: 'chat', capabilities: { reasoning: true, tools: true } }

beforeAll(async () => {
  front = await openFront((url) => ({
    OPENAI_API_KEY: upstreamSecret,
    OPENAI_BASE_URL: `${url}/v1`,
    ANTHROPIC_API_KEY: upstreamSecret,
    ANTHROPIC_BASE_URL: url,
    AWS_BEARER_TOKEN_BEDROCK: upstreamSecret,
    BEDROCK_BASE_URL: url,
    GEMINI_API_KEY: upstreamSecret,
    GOOGLE_BASE_URL: `${url}/v1beta`,
    DEEPSEEK_API_KEY: upstreamSecret,
    DEEPSEEK_BASE_URL: url,
    MISTRAL_API_KEY: upstreamSecret,
    MISTRAL_BASE_URL: url,
    OPENROUTER_API_KEY: upstreamSecret,
    OPENROUTER_BASE_URL: url,
    ZAI_API_KEY: upstreamSecret,
    ZAI_BASE_URL: url,
  }))
  await front.price('openai/gpt-6-astra')
  for (const model of new Set(providers.map(([, provider]) => provider.model))) {
    if (!/^(?:openai|bedrock)\//.test(model)) await front.price(model, made)
  }
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

/** Asks, and goes on with the answer: the second request as the provider gets it. */
async function sendTwice(door: Door, provider: ThinkingProvider, fields: Json): Promise<Json> {
  front.answer = provider.answer
  const asked = { ...door.question(provider.model), ...fields }
  const first = await front.post(door.path, asked)
  expect(first.status).toBe(200)
  const second = await front.post(door.path, door.next(asked, first))
  expect([second.status, second.text.slice(0, 500)]).toEqual([200, second.text.slice(0, 500)])
  expect(front.requests).toHaveLength(2)
  return front.requests.at(-1)?.body ?? {}
}

describe.each(providers)('findings V4, V8, V20, Q1, Q2, Q9: %s', (_name, provider) => {
  describe.each(formats)('by %s', (_format, door) => {
    test.each([false, true])('its thought comes back to it, stream: %p', async (stream) => {
      const sent = await sendTwice(door, provider, { stream })
      expect(provider.thoughtIn(sent)).toEqual(provider.thought)
    })
  })
})

const { responses, messages, chat } = doors
const providerOf = (name: string): ThinkingProvider => {
  const provider = thinkingProviders[name]
  if (!provider) throw new Error(`no provider ${name}`)
  return provider
}
const doorOf = (door: Door | undefined): Door => {
  if (!door) throw new Error('no such door')
  return door
}

describe.each(providers.filter(([, { isText }]) => isText))('finding V4: %s', (_name, provider) => {
  test.each([false, true])('its text comes back without `include`, stream: %p', async (stream) => {
    const sent = await sendTwice(doorOf(responses), provider, { stream, include: [] })
    expect(provider.thoughtIn(sent)).toEqual(provider.thought)
  })
})

test('finding V4: a client that keeps the encrypted content alone gives its text back', async () => {
  const provider = providerOf('DeepSeek, text')
  const door = doorOf(responses)
  front.answer = provider.answer
  const asked = door.question(provider.model)
  const next = door.next(asked, await front.post(door.path, asked))
  const input = Array.isArray(next['input']) ? next['input'].map(jsonOf) : []
  const stripped = input.map((item) =>
    item['type'] === 'reasoning' ? { ...item, summary: [] } : item,
  )
  await front.post(door.path, { ...next, input: stripped })
  expect(provider.thoughtIn(front.requests.at(-1)?.body ?? {})).toBe(text)
})

test('finding Q1: Claude on Bedrock goes on thinking after its first call', async () => {
  const provider = providerOf('Claude on Bedrock, signed')
  const sent = await sendTwice(doorOf(messages), provider, {})
  expect(sent['additionalModelRequestFields']).toMatchObject({ thinking: { type: 'enabled' } })
})

test('finding Q1: the signature of Claude on Bedrock is returned as it is', async () => {
  const { model, answer } = providerOf('Claude on Bedrock, signed')
  front.answer = answer
  const told = await front.post('/v1/messages', doorOf(messages).question(model))
  expect(told.body['content']).toMatchObject([
    { type: 'thinking', thinking: text, signature: 'c2ln' },
    { type: 'tool_use' },
  ])
})

test('finding Q2: the id of a call is accepted as it was issued, and no other as long', async () => {
  const { model, answer } = providerOf('Gemini, in the id of the call')
  front.answer = answer
  const door = doorOf(messages)
  const asked = door.question(model)
  const told = await front.post(door.path, asked)
  expect(told.text).toContain(longSignature)
  const use = { type: 'tool_use', id: 'x'.repeat(8193), name: 'look', input: {} }
  const rejected = await front.post(door.path, {
    ...asked,
    messages: [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: [use] },
    ],
  })
  expect([rejected.status, rejected.error.message]).toEqual([
    400,
    expect.stringContaining('messages.1.content.0.id'),
  ])
})

const pack = (details: unknown) => `tg1.${Buffer.from(JSON.stringify(details)).toString('base64')}`

describe('forged and foreign thoughts', () => {
  const use = { type: 'tool_use', id: 'toolu_1', name: 'look', input: { q: 1 } }
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: '42' }
  const withSignature = (model: string, signature: string) => ({
    ...doorOf(messages).question(model),
    messages: [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: [{ type: 'thinking', thinking: '', signature }, use] },
      { role: 'user', content: [result] },
    ],
  })
  const ofOpenAi = { type: 'reasoning.encrypted', format: 'openai-responses-v1', data: 'Z0FBQUFB' }

  test.each([
    ['cut', pack([ofOpenAi]).slice(0, -9)],
    ['of no list', pack(ofOpenAi)],
    ['of another maker', pack([{ ...ofOpenAi, format: 'google-gemini-v1' }])],
    ['of no text', pack([{ ...ofOpenAi, data: { deep: 1 } }])],
  ])('a signature %s is ignored', async (_what, signature) => {
    const { model, answer } = providerOf('OpenAI, encrypted')
    front.answer = answer
    const answered = await front.post('/v1/messages', withSignature(model, signature))
    expect(answered.status).toBe(200)
    expect(front.requests[0]?.body['input']).toHaveLength(3)
  })

  test('a thought that the provider rejects is left out, once', async () => {
    const { model, answer } = providerOf('OpenAI, encrypted')
    front.answer = (seen) =>
      seen.text.includes('Z0FBQUFB')
        ? Response.json(
            { error: { code: 'invalid_encrypted_content', message: 'No.' } },
            { status: 400 },
          )
        : answer(seen)
    const answered = await front.post('/v1/messages', withSignature(model, pack([ofOpenAi])))
    expect(answered.status).toBe(200)
    expect(front.requests.map(({ text: sent }) => sent.includes('Z0FBQUFB'))).toEqual([true, false])
  })

  test('one of another provider never reaches Anthropic', async () => {
    const { model, answer } = providerOf('Anthropic, signed')
    front.answer = answer
    const answered = await front.post('/v1/messages', withSignature(model, pack([ofOpenAi])))
    expect(answered.status).toBe(200)
    expect(front.requests[0]?.text).not.toContain('tg1.')
    expect(front.requests[0]?.body['messages']).toMatchObject([{}, { content: [use] }, {}])
  })

  test('finding V20: a thought that Anthropic rejects is left out, once', async () => {
    const { model, answer } = providerOf('Anthropic, signed')
    const refusal = {
      type: 'invalid_request_error',
      message: 'Invalid `signature` in `thinking` block',
    }
    front.answer = (seen) =>
      seen.text.includes('Zm9y')
        ? Response.json({ type: 'error', error: refusal }, { status: 400 })
        : answer(seen)
    const details = [
      { type: 'reasoning.text', text, signature: 'Zm9y', format: 'anthropic-claude-v1' },
    ]
    const question = doorOf(chat).question(model)
    const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }
    const answered = await front.post('/v1/chat/completions', {
      ...question,
      messages: [
        { role: 'user', content: 'Look.' },
        { role: 'assistant', content: null, tool_calls: [call], reasoning_details: details },
        { role: 'tool', tool_call_id: 'call_1', content: '42' },
      ],
    })
    expect(answered.status).toBe(200)
    expect(front.requests.map(({ text: sent }) => sent.includes('Zm9y'))).toEqual([true, false])
    expect(front.requests[1]?.body).not.toHaveProperty('thinking')
  })

  test.each([false, true])(
    'finding V20: a thought that Anthropic rejects is left out of a request in its own format, once, stream: %p',
    async (stream) => {
      const { model, answer } = providerOf('Anthropic, signed')
      const message = 'messages.1.content.0: Invalid `signature` in `thinking` block'
      const error = { type: 'invalid_request_error', message }
      front.answer = (seen) =>
        seen.text.includes('Zm9y')
          ? Response.json({ type: 'error', error }, { status: 400 })
          : answer(seen)
      const history = withSignature(model, 'Zm9y')
      const thinking = { type: 'enabled', budget_tokens: 1024 }
      const answered = await front.post('/v1/messages', { ...history, stream, thinking })
      expect(answered.status).toBe(200)
      expect(front.requests.map(({ text: sent }) => sent.includes('Zm9y'))).toEqual([true, false])
      const [, second] = front.requests
      expect(second?.body).not.toHaveProperty('thinking')
      expect(second?.body['messages']).toMatchObject([{}, { content: [use] }, {}])
    },
  )

  test('finding V20: a refusal for another reason is returned without a second try', async () => {
    const { model } = providerOf('Anthropic, signed')
    const error = { type: 'invalid_request_error', message: 'messages: too many images' }
    front.answer = () => Response.json({ type: 'error', error }, { status: 400 })
    const answered = await front.post('/v1/messages', withSignature(model, 'Zm9y'))
    expect([answered.status, front.requests.length]).toEqual([400, 1])
  })
})
