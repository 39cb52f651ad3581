import { describe, expect, test } from 'bun:test'
import { anthropic } from './anthropic'
import { bedrock } from './bedrock'
import { cohere } from './cohere'
import { google } from './google'
import { toUpstreamChat } from './openai/request'
import { RelayOptions } from './provider'
import { responses } from './responses'
import { sampleChat, sampleTarget } from '../../testing/providers/samples'
import { isObject, type JsonObject } from '../wire/json-body'

const signed = (format: string) => ({ type: 'reasoning.text', text: 'Hm.', signature: 's', format })
const thought = {
  role: 'assistant',
  reasoning_content: 'Hm.',
  reasoning_details: [
    signed('anthropic-claude-v1'),
    signed('bedrock-converse-v1'),
    { type: 'reasoning.encrypted', data: 'x', format: 'openai-responses-v1' },
  ],
}
const user = (content: string) => ({ role: 'user', content })
const messages = [user('first'), { ...thought, content: null }, user('second')]

const messagesFor = (options: JsonObject): unknown =>
  toUpstreamChat(
    { model: 'a/b', messages },
    { upstreamModel: 'b', options: RelayOptions.parse(options) },
  )['messages']

describe('finding P8: an assistant turn of thoughts alone is taken', () => {
  test.each([
    ['absent', {}],
    ['null', { content: null }],
    ['empty', { content: '' }],
  ])('its content %s', (_what, content) => {
    const chat = sampleChat({
      messages: [user('first'), { ...thought, ...content }, user('second')],
    })
    expect(chat.messages).toHaveLength(3)
  })

  test('an entirely empty one is rejected', () => {
    const empty = { role: 'assistant', reasoning_content: '', reasoning_details: [] }
    expect(() => sampleChat({ messages: [user('first'), empty] })).toThrow('content')
  })

  test.each([
    ['anthropic', anthropic, 'claude-sonnet-4-6'],
    ['bedrock', bedrock, 'us.anthropic.claude-sonnet-4-6'],
    ['google', google, 'gemini-3.5-flash'],
    ['cohere', cohere, 'command-a-03-2025'],
    ['responses', responses, 'gpt-6-astra'],
  ])('%s: it is dropped, and both turns of the user stay', (_name, adapter, model) => {
    const { body } = adapter.request(sampleChat({ messages }), sampleTarget(model))
    const text = JSON.stringify(body)
    expect(text).toMatch(/first[^]*second/)
    expect(text).not.toContain('"assistant"')
    expect(text).not.toContain('"model":"model"')
    expect(text).not.toMatch(/"(?:content|parts)":\[\]/)
  })

  test('relayed: it is left out where thoughts do not go back', () => {
    expect(messagesFor({})).toEqual([user('first'), user('second')])
  })

  test.each(['reasoning_content', 'reasoning', 'required'])(
    'relayed: it goes back as %s, with an empty text',
    (historyReasoning) => {
      const turns = messagesFor({ historyReasoning })
      const [, turn]: unknown[] = Array.isArray(turns) ? turns : []
      expect(turn).toMatchObject({ role: 'assistant', content: '' })
      const name = historyReasoning === 'reasoning' ? 'reasoning' : 'reasoning_content'
      expect(isObject(turn) && turn[name]).toBe('Hm.')
    },
  )
})
