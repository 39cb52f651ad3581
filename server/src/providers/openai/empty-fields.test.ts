import { expect, test } from 'bun:test'
import { ChatStream } from './chat-stream'
import type { RelayRequest } from './relayed-stream'
import { relayChat } from './whole-answer'
import { RelayOptions } from '../provider'
import { sampleSource } from '../../../testing/providers/samples'
import { noUsage } from '../../wire/usage'

const request: RelayRequest = {
  identity: { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'a/b' },
  source: sampleSource,
  options: RelayOptions.parse({}),
  wantsUsage: false,
  legacyFunctions: false,
  newCallId: () => 'call_1',
  hiddenTokens: () => Infinity,
  estimate: () => noUsage,
}

/** A message as some services write it, with all of its fields. */
const messageOf = (content: string) => ({
  role: 'assistant',
  content,
  tool_calls: null,
  function_call: { name: '', arguments: '' },
})

test('finding Q7: an empty function_call of a whole answer is dropped', () => {
  const answer = { choices: [{ index: 0, message: messageOf('4'), finish_reason: 'stop' }] }
  expect(relayChat(answer, request).body['choices']).toEqual([
    {
      index: 0,
      message: { role: 'assistant', content: '4', refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ])
})

test('finding Q7: an empty function_call in a stream is dropped', () => {
  const stream = new ChatStream(request)
  const next = (content: string, finish_reason: string | null) =>
    stream.next(
      JSON.stringify({ choices: [{ index: 0, delta: messageOf(content), finish_reason }] }),
    )
  const opening = next('', null)
  expect(stream.hasOutput).toBeFalse()
  const chunks = [...opening, ...next('4', 'stop'), ...stream.end(true)].join('')
  expect(chunks).not.toContain('function_call')
  expect(chunks).toContain('"content":"4"')
  expect(chunks).toContain('"finish_reason":"stop"')
})
