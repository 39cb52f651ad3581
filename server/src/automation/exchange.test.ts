import { expect, test } from 'bun:test'
import { toMessageOutcome } from './exchange'
import { NewMessage } from './schema'
import type { JsonObject } from '../wire/json-body'
import { noUsage } from '../wire/usage'

const message = NewMessage.parse({ content: 'abcd' })
const chat = { messages: [{ role: 'system', content: 'x'.repeat(12) }, message] }
const usage = { ...noUsage, input: 8, output: 5 }

const kept = (choice: JsonObject | undefined) =>
  toMessageOutcome({ chat, message, answer: { choices: choice ? [choice] : [] }, usage, cost: 1n })

const answered = (fields: JsonObject, finish_reason: string | null = 'stop') =>
  kept({ message: { role: 'assistant', content: null, ...fields }, finish_reason }).messages[1]

test('a message has its share of the tokens that were read, an answer those that were written', () => {
  const { messages, inputTokens, outputTokens } = kept({
    message: { content: 'Yes.' },
    finish_reason: 'stop',
  })
  expect(messages.map(({ tokens }) => tokens)).toEqual([2, 5])
  expect([inputTokens, outputTokens]).toEqual([8, 5])
})

test('what broke off before anything was said leaves nothing but its cost', () => {
  expect(kept(undefined)).toMatchObject({ messages: [], inputTokens: 8, cost: 1n })
  expect(answered({}, null)).toBeUndefined()
  expect(answered({ content: 'Ye' }, null)).toMatchObject({ content: 'Ye' })
})

test('an answer of nothing is an empty one, a refusal is what was said', () => {
  expect(answered({})).toMatchObject({ content: '' })
  expect(answered({ refusal: 'No.' })).toMatchObject({ content: 'No.' })
})

test('a call that was cut is none: nobody could answer half of it', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'x', arguments: '{"a":' } }
  for (const finish of ['length', 'content_filter', null]) {
    expect(answered({ content: 'I look.', tool_calls: [call] }, finish)).toMatchObject({
      content: 'I look.',
      toolCalls: undefined,
    })
  }
})

test('what a database does not take is left out of an answer', () => {
  const [zero, half] = ['\0', '\ud800']
  const call = { id: 'call_1', function: { name: 'x', arguments: `{"a":"${zero}${half}"}` } }
  expect(answered({ content: `a${zero}b${half}` })).toMatchObject({ content: 'ab\ufffd' })
  expect(answered({ tool_calls: [call] })).toMatchObject({
    content: null,
    toolCalls: [{ id: 'call_1', function: { name: 'x', arguments: '{"a":"\ufffd"}' } }],
  })
})
