import { expect, test } from 'bun:test'
import * as fc from '../../../testing/property'
import { createPartsReader } from './parts'
import { sampleSource, joinParts } from '../../../testing/providers/samples'
import type { Part } from '../../wire/answer-part'

const piece = (type: string, text: string) => ({
  type: `tool-call-${type}`,
  index: 0,
  delta: { message: { tool_calls: { id: 'a', function: { name: 'f', arguments: text } } } },
})

/** The arguments of a call that come in those pieces, as they go into a stream. */
function argumentsOf(pieces: readonly string[], hasEnd: boolean): string | undefined {
  const [first = '', ...rest] = pieces
  const events = [
    piece('start', first),
    ...rest.map((text) => piece('delta', text)),
    ...(hasEnd ? [{ type: 'tool-call-end', index: 0 }] : []),
    { type: 'message-end', delta: { finish_reason: 'TOOL_CALL' } },
  ]
  const read = createPartsReader(sampleSource)
  const { calls } = joinParts(events.flatMap((event) => read(JSON.stringify(event))))
  return calls[0]?.arguments
}

const cut = (text: string, places: readonly number[]) => {
  const edges = [0, ...places.map((place) => place % (text.length + 1)), text.length]
  const sorted = edges.toSorted((a, b) => a - b)
  return sorted.slice(1).map((edge, index) => text.slice(sorted[index], edge))
}

test('arguments arrive as sent, for every cut; the text null means no arguments', () => {
  const text = fc.constantFrom('null', '{"a": null}', 'nullable', 'nul', '{}', '', 'a null')
  const property = fc.property(
    text,
    fc.array(fc.nat(), { maxLength: 4 }),
    fc.boolean(),
    (...all) => {
      const [args, places, hasEnd] = all
      expect(argumentsOf(cut(args, places), hasEnd)).toBe(args === 'null' ? '' : args)
    },
  )
  fc.assert(property, { numRuns: 500 })
})

test.each([
  ['STOP_SEQUENCE', 'stop_sequence'],
  ['COMPLETE', undefined],
])('finding V21: %s is an end with the stop sequence %p', (finish_reason, matchedStop) => {
  const read = createPartsReader(sampleSource)
  const [finish] = read(JSON.stringify({ type: 'message-end', delta: { finish_reason } }))
  expect(finish).toEqual({ type: 'finish', reason: 'stop', ...(matchedStop && { matchedStop }) })
})

const cited = (filename: string): Part => ({
  type: 'annotation',
  annotation: {
    type: 'file_citation',
    file_citation: { filename, start_index: 4, end_index: 7 },
  },
})

test('finding Q18: a document without an address is cited by its title, or its id', () => {
  const sources = [
    { type: 'document', id: 'doc:0', document: { title: 'Numbers', snippet: 'uno' } },
    { type: 'document', id: 'doc:1', document: { snippet: 'due' } },
    { type: 'tool', id: 'look:0', tool_output: { content: 'tre' } },
  ]
  const citations = { start: 4, end: 7, text: 'one', sources }
  const read = createPartsReader(sampleSource)
  const parts = read(
    JSON.stringify({ type: 'citation-start', index: 0, delta: { message: { citations } } }),
  )
  expect(parts.filter(({ type }) => type === 'annotation')).toEqual([
    cited('Numbers'),
    cited('doc:1'),
  ])
})
