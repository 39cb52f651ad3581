import { describe, expect, test } from 'bun:test'
import { messagesPassthrough as messages } from './anthropic/native-passthrough'
import { createPartsReader } from './anthropic/parts'
import type { RelayedStream, RelayRequest } from './openai/relayed-stream'
import { relayText } from './openai/whole-answer'
import { RelayOptions } from './provider'
import { responsesPassthrough } from './responses/native-passthrough'
import { sampleSource } from '../../testing/providers/samples'
import { TranslatedStream } from './translated-stream'
import { noUsage } from '../wire/usage'

const text = 'Zöllner \u{1F600}'
const identity = {
  id: 'chatcmpl-01m7',
  object: 'chat.completion.chunk' as const,
  created: 1,
  model: 'a/b',
}
const relayRequest: RelayRequest = {
  identity,
  source: sampleSource,
  options: RelayOptions.parse({}),
  wantsUsage: false,
  legacyFunctions: false,
  newCallId: () => 'call_new',
  estimate: () => ({ ...noUsage, estimated: true }),
  hiddenTokens: () => 0,
}
const charged: RelayRequest = { ...relayRequest, units: { characters: true, seconds: false } }
const responses = responsesPassthrough({ keepsId: false })

const usage = { input_tokens: 5, output_tokens: 3 }
const message = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [],
  model: 'x',
  stop_reason: null,
  usage: { input_tokens: 5, output_tokens: 1 },
}
const messageEvents = [
  { type: 'message_start', message },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
  { type: 'message_stop' },
]
const item = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }
const completed = { type: 'response.completed', response: { output: [item], usage } }
const delta = { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: text }
const added = { type: 'response.output_item.added', output_index: 0, item: { type: 'message' } }
const done = { type: 'response.output_item.done', output_index: 0, item }

/** What a stream used once it has read these events. */
function used(stream: RelayedStream, events: readonly object[]) {
  for (const event of events) stream.next(JSON.stringify(event))
  return stream.usage()
}

describe('the characters of an answer are counted where they are charged', () => {
  test.each([
    [
      'a translated stream',
      (of: RelayRequest) => {
        return used(new TranslatedStream(createPartsReader(of.source), of), messageEvents)
      },
    ],
    [
      'a relayed stream of messages',
      (of: RelayRequest) => used(messages.stream(of), messageEvents),
    ],
    [
      'a relayed message',
      (of: RelayRequest) => {
        const content = [{ type: 'text', text }]
        return messages.complete({ type: 'message', content, usage }, of).usage
      },
    ],
    [
      'a relayed Response',
      (of: RelayRequest) => {
        return responses.complete({ status: 'completed', output: [item], usage }, of).usage
      },
    ],
    [
      'a relayed stream of a Response',
      (of: RelayRequest) => {
        return used(responses.stream(of), [added, delta, done, completed])
      },
    ],
    [
      'a relayed stream without deltas',
      (of: RelayRequest) => {
        return used(responses.stream(of), [completed])
      },
    ],
    [
      'a legacy completion',
      (of: RelayRequest) => {
        return relayText({ choices: [{ text, index: 0, finish_reason: 'stop' }] }, of).usage
      },
    ],
  ])('%s', (_what, read) => {
    expect(read(charged).outputCharacters).toBe(9)
    expect(read(relayRequest)).not.toHaveProperty('outputCharacters')
  })
})
