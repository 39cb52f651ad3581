import { expect, test } from 'bun:test'
import { ChatStream } from './chat-stream'
import { TextStream } from './text-stream'
import type { RelayRequest } from './relayed-stream'
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

const chunk = (index: number) =>
  JSON.stringify({ choices: [{ index, text: 'a', delta: { content: 'a' }, finish_reason: null }] })

test.each([ChatStream, TextStream])(
  '%p ends an answer that opens more choices than any request has',
  (Stream) => {
    const stream = new Stream(request)
    for (let index = 0; index < 128; index++) stream.next(chunk(index))
    stream.next(chunk(127))
    expect(() => stream.next(chunk(128))).toThrow('too many choices')
  },
)

test('as many prompts as a request of completions has may each have an answer', () => {
  const stream = new TextStream({ ...request, answers: 500 })
  for (let index = 0; index < 500; index++) stream.next(chunk(index))
  expect(() => stream.next(chunk(500))).toThrow('too many choices')
})
