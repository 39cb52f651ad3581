import { describe, expect, test } from 'bun:test'
import { responsesPassthrough } from './native-passthrough'
import type { RelayRequest } from '../openai/relayed-stream'
import { RelayOptions } from '../provider'
import { sampleSource } from '../../../testing/providers/samples'
import type { JsonObject } from '../../wire/json-body'
import type { TextSize } from '../../wire/text-size'
import { noUsage } from '../../wire/usage'

const relayRequest: RelayRequest = {
  identity: {
    id: 'chatcmpl-01m7',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'openai/gpt-6-astra',
  },
  source: sampleSource,
  options: RelayOptions.parse({}),
  wantsUsage: true,
  legacyFunctions: false,
  newCallId: () => 'call_new',
  estimate: ({ bytes }: TextSize) => ({ ...noUsage, output: bytes, estimated: true }),
  hiddenTokens: () => 0,
}
const response = { id: 'resp_theirs', status: 'in_progress', model: 'theirs', output: [] }
const message = { type: 'message', id: 'msg_1', role: 'assistant', content: [] }
const added = (index: number, item: JsonObject = message) => ({
  type: 'response.output_item.added',
  output_index: index,
  item,
})
const done = (index: number, item: JsonObject) => ({
  type: 'response.output_item.done',
  output_index: index,
  item,
})
const textDelta = (delta: string) => ({
  type: 'response.output_text.delta',
  output_index: 0,
  content_index: 0,
  delta,
})

/** A stream to which these events came. */
function relayedOf(...events: JsonObject[]) {
  const relayed = responsesPassthrough({ keepsId: false }).stream(relayRequest)
  for (const event of [{ type: 'response.created', response }, ...events])
    relayed.next(JSON.stringify(event))
  return relayed
}

const completed = (fields: JsonObject) => ({
  type: 'response.completed',
  response: { ...response, status: 'completed', ...fields },
})

test('the text kept for an early end is bounded', () => {
  const flood = { type: 'response.made_up', text: 'x'.repeat(5 * 1024 * 1024) }
  const relayed = relayedOf(
    added(0),
    textDelta('Good '),
    flood,
    textDelta('day'),
    added(1),
    done(2, { ...message, id: 'msg_3' }),
  )
  const [last = ''] = relayed.cut?.(2)?.slice(-1) ?? []
  const { output } = JSON.parse(last.slice(last.indexOf('{'))).response
  expect(output).toMatchObject([{ content: [{ text: 'Good ' }] }])
})

describe('the visible text of an answer limits its usage', () => {
  const counts = { input_tokens: 1, output_tokens: 600 }
  const shown = (...events: JsonObject[]) =>
    relayedOf(...events, completed({ usage: counts })).usage().output

  test('nothing', () => {
    expect(shown()).toBeLessThan(600)
  })

  test('the name of a call without further events', () => {
    const call = { type: 'function_call', call_id: 'c', name: 'n'.repeat(600), arguments: '' }
    expect(shown(added(0, call))).toBe(600)
  })

  test('a piece of an image, or the sources of a text', () => {
    const type = 'response.image_generation_call.partial_image'
    expect(shown({ type, partial_image_b64: 'x'.repeat(600) })).toBe(600)
    const annotation = { type: 'url_citation', title: 'x'.repeat(600) }
    expect(shown({ type: 'response.output_text.annotation.added', annotation })).toBe(600)
  })

  test('an item of the last event that no event before it had, and only once', () => {
    const first = { ...message, content: [{ type: 'output_text', text: 'Good day' }] }
    const second = { ...message, content: [{ type: 'output_text', text: 'Bye' }] }
    const events = [added(0), textDelta('Good day'), done(0, first)]
    const { output } = relayedOf(...events, completed({ output: [first, second] })).usage()
    expect(output).toBe('Good dayBye'.length)
  })
})
