import { expect, test } from 'bun:test'
import { toMessageOutcome } from './exchange'
import { NewMessage } from './schema'
import type { JsonObject } from '../wire/json-body'
import { noUsage } from '../wire/usage'

const message = NewMessage.parse({ content: 'abcd' })
const chat = { messages: [{ role: 'system', content: 'x'.repeat(12) }, message] }
const usage = { ...noUsage, input: 8, output: 5 }

const exchangeOf = (choice: JsonObject | undefined) =>
  toMessageOutcome({ chat, message, answer: { choices: choice ? [choice] : [] }, usage, cost: 1n })

const answered = (fields: JsonObject, finish_reason: string | null = 'stop') =>
  exchangeOf({ message: { role: 'assistant', content: null, ...fields }, finish_reason })
    .messages[1]

test('a message has its share of the tokens read, an answer the tokens written', () => {
  const { messages, inputTokens, outputTokens } = exchangeOf({
    message: { content: 'Yes.' },
    finish_reason: 'stop',
  })
  expect(messages.map(({ tokens }) => tokens)).toEqual([2, 5])
  expect([inputTokens, outputTokens]).toEqual([8, 5])
})

test('an answer that breaks off before its first token stores only its cost', () => {
  expect(exchangeOf(undefined)).toMatchObject({ messages: [], inputTokens: 8, cost: 1n })
  expect(answered({}, null)).toBeUndefined()
  expect(answered({ content: 'Ye' }, null)).toMatchObject({ content: 'Ye' })
})

test('an answer without content is stored empty, a refusal as its text', () => {
  expect(answered({})).toMatchObject({ content: '' })
  expect(answered({ refusal: 'No.' })).toMatchObject({ content: 'No.' })
})

test('drops a truncated tool call', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'x', arguments: '{"a":' } }
  for (const finish of ['length', 'content_filter', null]) {
    expect(answered({ content: 'I look.', tool_calls: [call] }, finish)).toMatchObject({
      content: 'I look.',
      toolCalls: undefined,
    })
  }
})

test('removes characters that the database cannot store from an answer', () => {
  const [zero, half] = ['\0', '\ud800']
  const call = { id: 'call_1', function: { name: 'x', arguments: `{"a":"${zero}${half}"}` } }
  expect(answered({ content: `a${zero}b${half}` })).toMatchObject({ content: 'ab\ufffd' })
  expect(answered({ tool_calls: [call] })).toMatchObject({
    content: null,
    toolCalls: [{ id: 'call_1', function: { name: 'x', arguments: '{"a":"\ufffd"}' } }],
  })
})
