import { expect, test } from 'bun:test'
import { collectResponse, toResponseEvents } from './whole-response'
import { namedFrame } from '../../wire/sse'
import { toText } from '../../wire/json-body'

const annotation = { type: 'url_citation', url: 'https://a.example/', start_index: 0, end_index: 1 }
const response = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'gpt',
  output: [
    { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [
        { type: 'output_text', text: 'Look:', annotations: [annotation] },
        { type: 'refusal', refusal: 'No.' },
      ],
    },
    { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"q":1}' },
    { id: 'ws_1', type: 'web_search_call', status: 'completed' },
  ],
  usage: { input_tokens: 5, output_tokens: 9 },
}

test('finding V12: a whole Response, as the events of a stream, is the same', () => {
  const events = toResponseEvents(response)
  expect(events.map((event) => event['sequence_number'])).toEqual([...events.keys()])
  expect(events.at(-1)).toMatchObject({ type: 'response.completed', response })
  const frames = events.map((event) => namedFrame({ ...event, type: toText(event['type']) }))
  expect(collectResponse(frames)).toEqual(response)
  const unrepeated = frames.map((frame, at) =>
    at === frames.length - 1
      ? namedFrame({ type: 'response.completed', response: { ...response, output: [] } })
      : frame,
  )
  expect(collectResponse(unrepeated)).toEqual(response)
})

test('finding V12: each item is added before its deltas and done after them', () => {
  const events = toResponseEvents(response)
  for (const index of response.output.keys()) {
    const types = events.filter((event) => event['output_index'] === index).map(({ type }) => type)
    expect(types[0]).toBe('response.output_item.added')
    expect(types.at(-1)).toBe('response.output_item.done')
  }
  const deltas = events.filter(({ type }) => toText(type).endsWith('.delta'))
  expect(deltas.map(({ delta }) => delta)).toEqual(['Hm.', 'Look:', 'No.', '{"q":1}'])
})

test.each([null, undefined, ''])('finding V14: one with the status %p is completed', (status) => {
  expect(toResponseEvents({ ...response, status }).at(-1)).toMatchObject({
    type: 'response.completed',
  })
})

test('an incomplete one ends as such; an invalid body is passed on', () => {
  expect(toResponseEvents({ ...response, status: 'incomplete' }).at(-1)).toMatchObject({
    type: 'response.incomplete',
  })
  expect(toResponseEvents({ id: 'x' })).toEqual([{ id: 'x' }])
})
