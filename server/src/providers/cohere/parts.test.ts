import { expect, test } from 'bun:test'
import * as fc from '../../../testing/property'
import { createPartsReader } from './parts'
import { sampleSource, joinParts } from '../../../testing/providers/samples'

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

test('arguments are what was sent, however it was cut; the text null is none', () => {
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
