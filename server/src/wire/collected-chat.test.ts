import { expect, test } from 'bun:test'
import { CollectedChat } from './collected-chat'
import type { JsonObject } from './json-body'

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'a/b' }

const collect = (...chunks: JsonObject[]) => {
  const collected = new CollectedChat()
  for (const chunk of chunks) collected.add({ ...head, ...chunk })
  return collected.complete()
}

const chunkWith = (delta: JsonObject, index = 0) => ({
  choices: [{ index, delta, finish_reason: null }],
})
const ended = (finish_reason: string, index = 0) => ({
  choices: [{ index, delta: {}, finish_reason }],
})

const token = (text: string) => ({ token: text, logprob: -1, bytes: null, top_logprobs: [] })

const opening = (name: string) => ({
  id: `call_${name}`,
  type: 'function',
  function: { name, arguments: '' },
})

test('pieces of text become the message, with usage and the fields beside it', () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
  const whole = collect(
    chunkWith({ role: 'assistant', content: '' }),
    chunkWith({ content: 'Hel' }),
    { ...chunkWith({ content: 'lo' }), service_tier: 'default' },
    ended('stop'),
    { choices: [], usage },
  )
  expect(whole).toEqual({
    ...head,
    object: 'chat.completion',
    service_tier: 'default',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hello', refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage,
  })
})

test('choices come in their order, for any order of streaming', () => {
  const whole = collect(
    chunkWith({ content: 'b' }, 1),
    chunkWith({ content: 'a' }, 0),
    ended('length', 1),
    ended('stop', 0),
  )
  expect(whole['choices']).toMatchObject([
    { index: 0, message: { content: 'a' }, finish_reason: 'stop' },
    { index: 1, message: { content: 'b' }, finish_reason: 'length' },
  ])
})

test('fragments of calls become calls, though they take turns', () => {
  const call = (index: number, fields: JsonObject) =>
    chunkWith({ tool_calls: [{ index, ...fields }] })
  const whole = collect(
    chunkWith({ role: 'assistant', content: '' }),
    call(0, opening('f')),
    call(1, opening('g')),
    call(0, { function: { arguments: '{"a"' } }),
    call(1, { function: { arguments: '{}' } }),
    call(0, { function: { arguments: ':1}' } }),
    ended('tool_calls'),
  )
  expect(whole['choices']).toMatchObject([
    {
      message: {
        content: null,
        tool_calls: [
          { id: 'call_f', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
          { id: 'call_g', type: 'function', function: { name: 'g', arguments: '{}' } },
        ],
      },
      finish_reason: 'tool_calls',
    },
  ])
})

test('reasoning, refusal and log probabilities grow beside the text', () => {
  const whole = collect(
    chunkWith({ reasoning_content: 'Think' }),
    chunkWith({ reasoning_content: 'ing.' }),
    chunkWith({ refusal: 'N' }),
    {
      choices: [
        { index: 0, delta: { refusal: 'o' }, logprobs: { content: null, refusal: [token('N')] } },
      ],
    },
    { choices: [{ index: 0, delta: {}, logprobs: { content: null, refusal: [token('o')] } }] },
    ended('stop'),
  )
  expect(whole['choices']).toEqual([
    {
      index: 0,
      message: { role: 'assistant', content: null, refusal: 'No', reasoning_content: 'Thinking.' },
      logprobs: { refusal: [token('N'), token('o')], content: null },
      finish_reason: 'stop',
    },
  ])
})
