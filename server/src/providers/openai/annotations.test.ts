import { expect, test } from 'bun:test'
import { ChatStream } from './chat-stream'
import { toUpstreamMessages } from './messages'
import type { RelayRequest } from './relayed-stream'
import { relayChat } from './whole-answer'
import { RelayOptions } from '../provider'
import { sampleSource } from '../../../testing/providers/samples'
import { CollectedChat } from '../../wire/collected-chat'
import { isObject, type JsonObject } from '../../wire/json-body'
import { noUsage } from '../../wire/usage'

const request: RelayRequest = {
  identity: { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'a/b' },
  source: sampleSource,
  options: RelayOptions.parse({}),
  wantsUsage: true,
  legacyFunctions: false,
  newCallId: () => 'call_1',
  hiddenTokens: () => Infinity,
  estimate: () => noUsage,
}

const page = (url: string, title: string) => ({
  type: 'url_citation',
  url_citation: { url, title, start_index: 0, end_index: 0 },
})
const perplexity = {
  citations: ['https://a.example/', 'https://b.example/'],
  search_results: [
    { url: 'https://a.example/', title: 'A', date: '2026-01-01' },
    { url: 'javascript:alert(1)', title: 'no page' },
    { title: 'no address' },
  ],
}

const streamed = (chunks: readonly JsonObject[]) => {
  const stream = new ChatStream(request)
  const collected = new CollectedChat()
  for (const chunk of chunks.flatMap((one) => stream.next(JSON.stringify(one)))) {
    const read: unknown = JSON.parse(chunk)
    if (isObject(read)) collected.add(read)
  }
  stream.end(true)
  return relayChat(collected.complete(), request).body
}
const piece = (
  delta: JsonObject,
  finish_reason: string | null = null,
  fields: JsonObject = {},
) => ({
  choices: [{ index: 0, delta, finish_reason }],
  ...fields,
})
const messageOf = ({ choices }: JsonObject): unknown =>
  Array.isArray(choices) && isObject(choices[0]) ? choices[0]['message'] : undefined

test.each([
  ['search results', perplexity, [page('https://a.example/', 'A')]],
  [
    'addresses alone',
    { citations: perplexity.citations },
    [page('https://a.example/', ''), page('https://b.example/', '')],
  ],
  ['nothing of the kind', { citations: 'none', search_results: [null, 7] }, undefined],
])('finding P10: sources beside the choices are annotations: %s', (_what, fields, annotations) => {
  const chunks = [piece({ content: 'It is [1].' }, null, fields), piece({}, 'stop', fields)]
  expect(messageOf(streamed(chunks))).toMatchObject({ content: 'It is [1].' })
  const whole = {
    choices: [{ message: { content: 'It is [1].' }, finish_reason: 'stop' }],
    ...fields,
  }
  for (const body of [streamed(chunks), relayChat(whole, request).body]) {
    const message = messageOf(body)
    expect(isObject(message) && message['annotations']).toEqual(annotations)
  }
})

test('annotations of the provider itself stay the only ones', () => {
  const fields = [page('https://c.example/', 'C')]
  const chunks = [
    piece({ content: 'Hi' }),
    piece({ annotations: fields }),
    piece({}, 'stop', perplexity),
  ]
  expect(messageOf(streamed(chunks))).toMatchObject({ annotations: fields })
  const message = { content: 'Hi', annotations: fields }
  const whole = { choices: [{ message, finish_reason: 'stop' }], ...perplexity }
  expect(messageOf(relayChat(whole, request).body)).toMatchObject({ annotations: fields })
})

test('citations do not go back to a provider; its own fields of annotations do', () => {
  const file = { type: 'file', file: { hash: 'x' } }
  const message = {
    role: 'assistant',
    content: 'Hi',
    annotations: [page('https://a.example/', 'A')],
  }
  const messagesWith = (annotations: unknown) =>
    JSON.stringify(toUpstreamMessages([{ ...message, annotations }], request.options))
  expect(messagesWith(message.annotations)).toBe('[{"role":"assistant","content":"Hi"}]')
  expect(messagesWith([])).toBe('[{"role":"assistant","content":"Hi"}]')
  expect(messagesWith([page('https://a.example/', 'A'), file])).toContain(
    '"annotations":[{"type":"file"',
  )
})

test('finding P10: text beside tool calls is kept in a whole answer, streamed or not', () => {
  const calls = [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }]
  const chunks = [
    piece({ content: 'Wait.' }),
    piece({ tool_calls: calls }),
    piece({}, 'tool_calls'),
  ]
  expect(messageOf(streamed(chunks))).toMatchObject({ content: 'Wait.', tool_calls: [{ id: 'a' }] })
  const answer = (content: unknown) =>
    relayChat(
      { choices: [{ message: { content, tool_calls: calls }, finish_reason: 'stop' }] },
      request,
    )
  expect(messageOf(answer('Wait.').body)).toMatchObject({ content: 'Wait.' })
  expect(messageOf(answer('').body)).toMatchObject({ content: null })
  expect(messageOf(answer(null).body)).toMatchObject({ content: null })
})

test.each([1, 2])(
  'finding P10: all of %d choices have to finish if [DONE] is missing',
  (answers) => {
    const stream = new ChatStream({ ...request, answers })
    stream.next(JSON.stringify(piece({ content: 'Hi' }, 'stop')))
    expect(stream.isComplete()).toBe(false)
    stream.next(JSON.stringify({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }))
    expect(stream.isComplete()).toBe(answers === 1)
    if (answers === 1) expect(stream.end(false)).toHaveLength(1)
    else expect(() => stream.end(false)).toThrow()
  },
)
