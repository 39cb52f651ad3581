import { describe, expect, test } from 'bun:test'
import { toUpstreamChat } from './request'
import { RelayOptions } from '../provider'
import { providers } from '../registry'
import type { JsonObject } from '../../wire/json-body'

const short = { cache_control: { type: 'ephemeral' } }
const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const text = (value: string) => ({ type: 'text', text: value })
const tool = { type: 'function', function: { name: 'f' } }
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }

/** What is written: fields that are undefined are not. */
const relay = (chat: JsonObject, options: RelayOptions): JsonObject =>
  JSON.parse(JSON.stringify(toUpstreamChat(chat, { upstreamModel: 'm', options })))

function optionsOf(key: string): RelayOptions {
  const options = providers.find((provider) => provider.key === key)?.options
  if (!options) throw new Error(`There is no provider ${key}.`)
  return options
}

const chat = {
  model: 'm',
  ...hour,
  tools: [tool, { ...tool, function: { ...tool.function, ...hour } }],
  messages: [
    { role: 'system', content: 'Be brief.', ...hour },
    { role: 'user', content: [{ ...text('a'), ...short }, text('b')] },
    { role: 'assistant', content: 'I look.', tool_calls: [{ ...call, ...short }] },
    { role: 'tool', tool_call_id: 'c', content: [{ ...text('found'), ...short }] },
  ],
}

describe('finding P3: breakpoints of a chat request', () => {
  test('go to OpenRouter, at most four with that of the whole request', () => {
    expect(relay(chat, optionsOf('openrouter'))).toEqual({
      model: 'm',
      ...hour,
      tools: [tool, tool],
      messages: [
        { role: 'system', content: [text('Be brief.')] },
        { role: 'user', content: [{ ...text('a'), ...short }, text('b')] },
        {
          role: 'assistant',
          // Calls cannot carry one there.
          content: [{ ...text('I look.'), ...short }],
          tool_calls: [call],
        },
        { role: 'tool', tool_call_id: 'c', content: [{ ...text('found'), ...short }] },
      ],
    })
    const { messages: _messages, cache_control: _whole, ...rest } = chat
    const few = { ...rest, messages: [{ role: 'user', content: 'a', ...hour }] }
    expect(relay(few, optionsOf('openrouter'))).toMatchObject({
      tools: [tool, { ...tool, ...hour }],
      messages: [{ content: [{ ...text('a'), ...hour }] }],
    })
  })

  test('go to Alibaba Cloud in messages, without a lifetime', () => {
    const { tools, messages, ...rest } = relay(chat, optionsOf('dashscope'))
    expect(rest).toEqual({ model: 'm' })
    expect(tools).toEqual([tool, tool])
    expect(messages).toMatchObject([
      { content: [{ ...text('Be brief.'), ...short }] },
      { content: [{ ...text('a'), ...short }, text('b')] },
      { content: [{ ...text('I look.'), ...short }] },
      { content: [{ ...text('found'), ...short }] },
    ])
  })

  test("in OpenAI's spelling go where Anthropic's is taken, and to OpenAI as they are", () => {
    const part = { ...text('a'), prompt_cache_breakpoint: { mode: 'explicit' } }
    const chatWithPart = { model: 'm', messages: [{ role: 'user', content: [part] }] }
    expect(relay(chatWithPart, optionsOf('dashscope'))['messages']).toEqual([
      { role: 'user', content: [{ ...text('a'), ...short }] },
    ])
    expect(relay(chatWithPart, optionsOf('openai'))).toEqual(chatWithPart)
  })

  test('are removed for all others, at every place', () => {
    expect(relay(chat, RelayOptions.parse({}))).toEqual({
      model: 'm',
      tools: [tool, tool],
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [text('a'), text('b')] },
        { role: 'assistant', content: 'I look.', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c', content: 'found' },
      ],
    })
  })

  test('are nothing that a request without them is copied for', () => {
    const messages = [{ role: 'user', content: [text('a')] }]
    for (const key of ['openrouter', 'openai']) {
      const upstreamChat = toUpstreamChat(
        { messages },
        { upstreamModel: 'm', options: optionsOf(key) },
      )
      expect(upstreamChat['messages']).toEqual(messages)
    }
  })
})

test('sends a cache key only to providers that have one', () => {
  const fields = {
    prompt_cache_key: 'session',
    prompt_cache_retention: '24h',
    prompt_cache_options: { mode: 'explicit', ttl: '30m' },
    safety_identifier: 's',
    user: 'u',
  }
  const chatWithPart = { model: 'm', messages: [{ role: 'user', content: 'a' }], ...fields }
  for (const key of ['openai', 'azure', 'openrouter', 'moonshot', 'fireworks']) {
    expect(relay(chatWithPart, optionsOf(key))).toEqual(chatWithPart)
  }
  const further = ['prompt_cache_retention', 'prompt_cache_options']
  const groq = relay(chatWithPart, optionsOf('groq'))
  expect(groq).not.toContainAnyKeys(['prompt_cache_key', ...further])
  const mistral = relay(chatWithPart, optionsOf('mistral'))
  expect(mistral).toMatchObject({ prompt_cache_key: 'session' })
  expect(mistral).not.toContainAnyKeys(further)
})
