import { describe, expect, test } from 'bun:test'
import { createPartsReader } from './parts'
import { sampleSource, joinParts } from '../../../testing/providers/samples'
import type { JsonObject } from '../../wire/json-body'

const partsOf = (...events: JsonObject[]) => {
  const read = createPartsReader(sampleSource)
  return joinParts(events.flatMap((event) => read(JSON.stringify(event))))
}

const usage = { input_tokens: 9, output_tokens: 3, total_tokens: 12 }

test.each([
  ['arguments other than text', { type: 'tool_search_call', id: 'a', arguments: { q: 'b' } }],
  ['an input other than text', { type: 'made_up_call', id: 'a', input: [1], call_id: 7 }],
  ['an invalid id', { type: 'made_up', id: null }],
])('finding P8: skips an unknown item with %s', (_what, item) => {
  const collected = partsOf(
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.output_text.delta', delta: 'Hi.' },
    { type: 'response.completed', response: { usage } },
  )
  expect(collected).toMatchObject({ text: 'Hi.', finish: 'stop', usage: { input: 9, output: 3 } })
})

const done = (...output: JsonObject[]) => ({
  type: 'response.completed',
  response: { usage, output },
})
const look = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look' }
const called = [{ id: 'call_1', name: 'look', arguments: '{"q":1}' }]
const message = (text: string, fields: JsonObject = {}): JsonObject => ({
  type: 'message',
  content: [{ type: 'output_text', text, annotations: [], ...fields }],
})

/** Returns an event of each kind about one call; the arguments are in the event numbered `first` and in all after it. */
function callEvents(first: number, at: JsonObject): JsonObject[] {
  const of = (own: number) => (own >= first ? '{"q":1}' : '')
  const events: (JsonObject | undefined)[] = [
    { type: 'response.output_item.added', ...at, item: { ...look, arguments: '' } },
    first === 1
      ? { type: 'response.function_call_arguments.delta', ...at, delta: '{"q":1}' }
      : undefined,
    first <= 2
      ? { type: 'response.function_call_arguments.done', ...at, arguments: of(2) }
      : undefined,
    first <= 3
      ? { type: 'response.output_item.done', ...at, item: { ...look, arguments: of(3) } }
      : undefined,
    done({ ...look, arguments: of(4) }),
  ]
  return events.filter((event) => event !== undefined)
}

const places: [string, JsonObject][] = [
  ['a number', { output_index: 0 }],
  ['an id', { item_id: 'fc_1' }],
  ['neither', {}],
]

describe('finding V3: the arguments of a call', () => {
  describe.each(places)('with %s', (_where, at) => {
    test.each([1, 2, 3, 4])('arrive once, at every first place (%d)', (first) => {
      const collected = partsOf(...callEvents(first, at))
      expect(collected).toMatchObject({ calls: called, finish: 'tool_calls' })
    })
  })

  test('have their call, though nothing announced it', () => {
    const events = [
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"q"' },
      { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"q":1}' },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { ...look, arguments: '{"q":1}' },
      },
      done({ ...look, arguments: '{"q":1}' }),
    ]
    expect(partsOf(...events).calls).toEqual(called)
  })

  test('of a call in the last event alone', () => {
    expect(partsOf(done({ ...look, arguments: '{"q":1}' })).calls).toEqual(called)
  })

  test('of several calls with one number are separated by their ids', () => {
    const events = [1, 2].flatMap((q) => {
      const item = { ...look, id: `fc_${q}`, call_id: `call_${q}` }
      return [
        { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } },
        {
          type: 'response.function_call_arguments.done',
          output_index: 0,
          arguments: `{"q":${q}}`,
        },
      ]
    })
    const output = [1, 2].map((q) => ({ ...look, call_id: `call_${q}`, arguments: `{"q":${q}}` }))
    expect(partsOf(...events, done(...output)).calls).toEqual([
      ...called,
      { id: 'call_2', name: 'look', arguments: '{"q":2}' },
    ])
  })

  test('a name that comes late is the call’s', () => {
    const { name: _name, ...unnamed } = look
    const events = [
      { type: 'response.output_item.added', output_index: 0, item: { ...unnamed, arguments: '' } },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { ...look, arguments: '{"q":1}' },
      },
      done(),
    ]
    expect(partsOf(...events).calls).toEqual(called)
  })

  test('the input of a custom tool', () => {
    const item = { type: 'custom_tool_call', call_id: 'call_1', name: 'run', input: 'ls' }
    const begun = { type: 'response.output_item.added', item: { ...item, input: '' } }
    const own = { type: 'response.custom_tool_call_input.done', input: 'ls' }
    const whole = { type: 'response.output_item.done', item }
    const calls = [{ id: 'call_1', name: 'run', arguments: '{"input":"ls"}' }]
    for (const events of [[begun, own, whole], [begun, whole], [whole], [begun], []]) {
      expect(partsOf(...events, done(item)).calls).toEqual(calls)
    }
  })

  test('an input of a custom tool that is empty is the empty text', () => {
    const item = { type: 'custom_tool_call', call_id: 'call_1', name: 'run', input: '' }
    const whole = { type: 'response.output_item.done', item }
    const calls = [{ id: 'call_1', name: 'run', arguments: '{"input":""}' }]
    expect(partsOf(whole, done(item)).calls).toEqual(calls)
    expect(partsOf(whole, done()).calls).toEqual(calls)
  })

  test('finding V2: of a custom tool with a cut input, they are not whole', () => {
    const item = {
      type: 'custom_tool_call',
      call_id: 'a',
      name: 'run',
      input: 'ls',
      status: 'incomplete',
    }
    const last = { type: 'response.incomplete', response: { usage, output: [item] } }
    expect(partsOf(last)).toMatchObject({
      calls: [{ arguments: '{"input":"ls' }],
      finish: 'length',
    })
  })
})

/** Returns an event of each kind about one text, which is in the event numbered `first` and in all after it. */
function textEvents(first: number, at: JsonObject): JsonObject[] {
  const item = { ...message('Hello.'), ...('item_id' in at && { id: 'm_1' }) }
  const empty = { ...item, content: [] }
  const events = [
    { type: 'response.output_item.added', ...at, item: empty },
    ...(first === 1
      ? [
          { type: 'response.output_text.delta', ...at, delta: 'Hel' },
          { type: 'response.output_text.delta', ...at, delta: 'lo.' },
        ]
      : []),
    ...(first <= 2 ? [{ type: 'response.output_text.done', ...at, text: 'Hello.' }] : []),
    { type: 'response.output_item.done', ...at, item: first <= 3 ? item : empty },
    done(item),
  ]
  return events
}

describe('finding V3: a text', () => {
  describe.each([
    ...places.slice(0, 1),
    ['an id', { item_id: 'm_1' }],
    ['neither', {}],
    ['the number of its part too', { output_index: 0, content_index: 0 }],
  ] as [string, JsonObject][])('with %s', (_where, at) => {
    test.each([1, 2, 3, 4])('arrives once, at every first place (%d)', (first) => {
      expect(partsOf(...textEvents(first, at))).toMatchObject({ text: 'Hello.', finish: 'stop' })
    })
  })

  test('is whole where only its beginning came in pieces', () => {
    const events = [
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hel' },
      { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'Hello' },
      done(message('Hello.')),
    ]
    expect(partsOf(...events).text).toBe('Hello.')
  })

  test('is not repeated where the whole differs from its pieces', () => {
    const piece = { type: 'response.output_text.delta', output_index: 0, delta: 'Hello.' }
    expect(partsOf(piece, done(message('Greetings!'))).text).toBe('Hello.')
  })

  test('in several parts, with numbers and without', () => {
    for (const numbers of [
      [0, 1],
      [undefined, undefined],
    ]) {
      const events = numbers.map((content_index, at) => ({
        type: 'response.output_text.done',
        output_index: 0,
        content_index,
        text: ['One.', 'Two.'][at],
      }))
      expect(partsOf(...events, done()).text).toBe('One.Two.')
    }
  })

  test('of a second message becomes another paragraph', () => {
    expect(partsOf(done(message('One.'), message('Two.'))).text).toBe('One.\n\nTwo.')
  })

  test('finds its item in an output that lacks others', () => {
    const events = [
      { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'Hm.' },
      { type: 'response.output_text.delta', output_index: 1, delta: 'Hello.' },
      done(message('Hello.')),
    ]
    expect(partsOf(...events)).toMatchObject({ reasoning: 'Hm.', text: 'Hello.' })
  })

  test('with a refusal and thoughts', () => {
    const refusal = { type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] }
    const thoughts = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [
        { type: 'summary_text', text: 'One.' },
        { type: 'summary_text', text: 'Two.' },
      ],
      encrypted_content: 'Z0FB',
    }
    const summary = [0, 1].map((summary_index) => ({
      type: 'response.reasoning_summary_text.done',
      output_index: 0,
      summary_index,
      text: ['One.', 'Two.'][summary_index],
    }))
    const whole = { type: 'response.output_item.done', output_index: 0, item: thoughts }
    for (const events of [[], summary, [...summary, whole], [whole]]) {
      expect(partsOf(...events, done(thoughts, refusal))).toMatchObject({
        reasoning: 'One.\n\nTwo.',
        refusal: 'No.',
        details: [{ data: 'Z0FB' }],
      })
    }
  })

  test('has its citations', () => {
    const annotations = [{ type: 'url_citation', url: 'https://a.example/', start_index: 0 }]
    const read = createPartsReader(sampleSource)
    const item = message('Hello.', { annotations })
    const added = {
      type: 'response.output_text.annotation.added',
      output_index: 0,
      annotation: annotations[0],
    }
    const events = [{ type: 'response.output_text.done', output_index: 0, text: 'Hello.' }, added]
    const parts = [...events, done(item)].flatMap((event) => read(JSON.stringify(event)))
    expect(parts.filter(({ type }) => type === 'annotation')).toHaveLength(1)
    expect(createPartsReader(sampleSource)(JSON.stringify(done(item)))).toContainEqual({
      type: 'annotation',
      annotation: {
        type: 'url_citation',
        url_citation: { url: 'https://a.example/', start_index: 0 },
      },
    })
  })
})
