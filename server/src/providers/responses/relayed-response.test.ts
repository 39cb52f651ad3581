import { describe, expect, test } from 'bun:test'
import { responsesPassthrough } from './native-passthrough'
import type { RelayRequest } from '../openai/relayed-stream'
import { RelayOptions } from '../provider'
import { sampleSource } from '../../../testing/providers/samples'
import { ApiError } from '../../errors'
import type { JsonObject } from '../../wire/json-body'
import type { TextSize } from '../../wire/text-size'
import { noUsage } from '../../wire/usage'

const identity = {
  id: 'chatcmpl-01m7',
  object: 'chat.completion.chunk' as const,
  created: 1,
  model: 'openai/gpt-6-astra',
}
const relayRequest: RelayRequest = {
  identity,
  source: sampleSource,
  options: RelayOptions.parse({}),
  wantsUsage: true,
  legacyFunctions: false,
  newCallId: () => 'call_new',
  estimate: ({ bytes }: TextSize) => ({ ...noUsage, output: bytes, estimated: true }),
  hiddenTokens: () => 0,
}
const target = { upstreamModel: 'm' }
const { stream, request, complete, unsigned } = responsesPassthrough({ keepsId: false })
const response = { id: 'resp_theirs', status: 'in_progress', model: 'theirs', output: [] }
const created = { type: 'response.created', sequence_number: 0, response }
const usage = { input_tokens: 9, output_tokens: 3 }

const eventsIn = (frames: readonly string[]): JsonObject[] =>
  frames.map((frame) => {
    const [, name, data] = /^event: (.+)\ndata: (.+)\n\n$/.exec(frame) ?? []
    const event = JSON.parse(data ?? 'null')
    if (event.type !== name) throw new Error(`${name} is ${data}`)
    return event
  })

const message = { type: 'message', id: 'msg_1', role: 'assistant', content: [] }
const added = { type: 'response.output_item.added', output_index: 0, item: message }
const textDelta = (delta: string) => ({
  type: 'response.output_text.delta',
  sequence_number: 7,
  output_index: 0,
  content_index: 0,
  delta,
})

describe('a stream', () => {
  test('goes on as it came, byte by byte, but for id and model', () => {
    const relayed = stream(relayRequest)
    const data = '{"type":"response.made_up.delta","n":1.0,"obfuscation":"abc"}'
    expect(relayed.next(data)).toEqual([`event: response.made_up.delta\ndata: ${data}\n\n`])
    expect(eventsIn(relayed.next(JSON.stringify(created)))).toEqual([
      { ...created, response: { ...response, id: 'resp_01m7', model: identity.model } },
    ])
  })

  test('on a credential of the caller’s own keeps its id', () => {
    const [frame = ''] = responsesPassthrough({ keepsId: true })
      .stream(relayRequest)
      .next(JSON.stringify(created))
    expect(frame).toContain('"id":"resp_theirs"')
  })

  test('ends as incomplete, with its text, once its credit ends', () => {
    const relayed = stream(relayRequest)
    for (const event of [created, added, textDelta('Good '), textDelta('day')])
      relayed.next(JSON.stringify(event))
    const events = eventsIn(relayed.cut?.(2) ?? [])
    const item = {
      ...message,
      status: 'incomplete',
      content: [{ type: 'output_text', annotations: [], logprobs: [], text: 'Good day' }],
    }
    expect(events).toEqual([
      { type: 'response.output_item.done', sequence_number: 8, output_index: 0, item },
      {
        type: 'response.incomplete',
        sequence_number: 9,
        response: {
          ...response,
          id: 'resp_01m7',
          model: identity.model,
          status: 'incomplete',
          incomplete_details: { reason: 'max_output_tokens' },
          output: [item],
        },
      },
    ])
    expect(relayed.isOver).toBeTrue()
    expect(relayed.usage().output).toBe(2)
  })

  test('without a count is estimated by its text, once', () => {
    const relayed = stream(relayRequest)
    const done = {
      type: 'response.output_item.done',
      output_index: 0,
      item: { ...message, content: [{ type: 'output_text', text: 'Good day' }] },
    }
    for (const event of [created, added, textDelta('Good day'), done])
      relayed.next(JSON.stringify(event))
    relayed.next(JSON.stringify({ type: 'response.completed', response }))
    expect(relayed.usage()).toMatchObject({ output: 8, estimated: true })
  })

  test('does not count more than it shows', () => {
    const relayed = stream(relayRequest)
    const changed = { ...response, usage: { ...usage, output_tokens: 1_000_000 } }
    relayed.next(JSON.stringify({ type: 'response.completed', response: changed }))
    expect(relayed.usage().output).toBeLessThan(1000)
  })

  test.each([
    ['no name', '{}'],
    ['a name of two lines', JSON.stringify({ type: 'a\nevent: b' })],
    ['no object', '[]'],
  ])('with %s has no usage', (_what, data) => {
    expect(() => stream(relayRequest).next(data)).toThrow(ApiError)
  })

  test('over several lines goes out on one', () => {
    const [frame = ''] = stream(relayRequest).next('{"type":"response.made_up",\n"data":"a"}')
    expect(frame.split('\n').length).toBe(4)
  })

  test.each(['failed', 'cancelled'])(
    'finding V16: is used up to its visible text if it %s, for any count',
    (status) => {
      const relayed = stream(relayRequest)
      relayed.next(JSON.stringify(created))
      expect(relayed.hasContent()).toBeFalse()
      relayed.next(JSON.stringify(textDelta('Good')))
      expect(relayed.hasContent()).toBeTrue()
      const failed = { ...response, status, error: { message: 'No.' }, usage }
      const data = JSON.stringify({ type: `response.${status}`, response: failed })
      expect(() => relayed.next(data)).toThrow(ApiError)
      expect(relayed.usage()).toMatchObject({ input: 0, output: 4, estimated: true })
    },
  )

  test('finding V19: is estimated on the side that its usage leaves out', () => {
    const relayed = stream(relayRequest)
    relayed.next(JSON.stringify(created))
    relayed.next(JSON.stringify(textDelta('Good')))
    const completed = { ...response, status: 'completed', usage: { input_tokens: 9 } }
    relayed.next(JSON.stringify({ type: 'response.completed', response: completed }))
    expect(relayed.usage()).toMatchObject({ input: 9, output: 4, estimated: true })
  })

  test('without a last event has ended early', () => {
    expect(() => stream(relayRequest).end(false)).toThrow('ended early')
  })
})

describe('a request', () => {
  const body = { model: 'openai/a', input: 'Hi.', made_up: 1, max_output_tokens: 500 }
  const written = (fields: JsonObject, maxTokens?: number) =>
    request({ ...body, ...fields }, { upstreamModel: 'a', maxTokens }).body

  test('is touched in nothing but the model, and the limit that is paid for', () => {
    expect(written({})).toEqual({ ...body, model: 'a' })
    expect(written({}, 100)).toEqual({ ...body, model: 'a', max_output_tokens: 100 })
    expect(written({}, 1)['max_output_tokens']).toBe(16)
  })

  test('has ids of calls that are accepted, the same for a call and its result', () => {
    const call_id = `call 1 ${'x'.repeat(80)}`
    const input = [
      { type: 'function_call', call_id },
      { type: 'function_call_output', call_id },
    ]
    const items = written({ input })['input']
    const ids = Array.isArray(items) ? items.map((item) => item.call_id) : []
    expect(ids[0]).toMatch(/^[\w-]{1,64}$/)
    expect(ids[1]).toBe(ids[0])
  })

  test('is put once more without thoughts, where there are any', () => {
    const input = [
      { type: 'reasoning', encrypted_content: 'a' },
      { role: 'user', content: 'b' },
    ]
    expect(unsigned?.({ input }, target)).toEqual({ input: [{ role: 'user', content: 'b' }] })
    expect(unsigned?.({ input: 'Hi.' }, target)).toBeUndefined()
    expect(unsigned?.({ input: input.slice(1) }, target)).toBeUndefined()
  })
})

test.each([
  ['a list', []],
  ['no output', { id: 'a' }],
  ['a failure', { ...response, status: 'failed', error: { message: 'No.' } }],
])('%s is not a whole answer', (_what, answer) => {
  expect(() => complete(answer, relayRequest)).toThrow(ApiError)
})
