import { expect, test } from 'bun:test'
import { createPartsReader } from './parts'
import { sampleSource, joinParts } from '../../../testing/providers/samples'
import type { JsonObject } from '../../wire/json-body'

const partsOf = (...events: JsonObject[]) => {
  const read = createPartsReader(sampleSource)
  return joinParts(events.flatMap((event) => read(JSON.stringify(event))))
}

const usage = { input_tokens: 9, output_tokens: 3, total_tokens: 12 }

test.each([
  ['arguments that are no text', { type: 'tool_search_call', id: 'a', arguments: { q: 'b' } }],
  ['an input that is no text', { type: 'made_up_call', id: 'a', input: [1], call_id: 7 }],
  ['an id that is none', { type: 'made_up', id: null }],
])('finding P8: skips an unknown item with %s', (_what, item) => {
  const collected = partsOf(
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.output_text.delta', delta: 'Hi.' },
    { type: 'response.completed', response: { usage } },
  )
  expect(collected).toMatchObject({ text: 'Hi.', finish: 'stop', usage: { input: 9, output: 3 } })
})
