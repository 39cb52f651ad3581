import { expect, test } from 'bun:test'
import * as fc from '../../../testing/property'
import { google } from './index'
import { source } from '../../../testing/providers/google-recordings'
import { ApiError } from '../../errors'
import { isObject } from '../../wire/json-body'
import type { Part } from '../../wire/answer-part'

const textPiece = fc.constantFrom('', 'a', 'Birne 🍐')
const path = fc.constantFrom(
  '$.a',
  '$.a.b',
  '$.a[0]',
  '$.list[1].x',
  "$['b c']",
  '$.',
  '$.__proto__.a',
)
const piece = fc.record(
  { jsonPath: path, stringValue: textPiece, numberValue: fc.integer(), boolValue: fc.boolean() },
  { requiredKeys: ['jsonPath'] },
)
const functionCall = fc.record(
  {
    id: textPiece,
    name: fc.constantFrom('f', 'g'),
    args: fc.dictionary(fc.constantFrom('a', 'list', 'x'), fc.jsonValue(), { maxKeys: 2 }),
    partialArgs: fc.array(piece, { maxLength: 2 }),
    willContinue: fc.boolean(),
  },
  { requiredKeys: [] },
)
const part = fc.record(
  {
    text: textPiece,
    thought: fc.boolean(),
    thoughtSignature: fc.constant('YWI='),
    functionCall,
    inlineData: fc.constant({ mimeType: 'image/png', data: 'AAAA' }),
  },
  { requiredKeys: [] },
)
const finishReason = fc.constantFrom('STOP', 'MAX_TOKENS', 'SAFETY', 'MALFORMED_FUNCTION_CALL', '?')
const candidate = fc.record(
  { content: fc.record({ parts: fc.array(part, { maxLength: 3 }) }) },
  { requiredKeys: [] },
)
const count = fc.oneof(fc.nat(1000), fc.constantFrom(-1, 1.5, '7', null))
const usageMetadata = fc.record(
  { promptTokenCount: count, candidatesTokenCount: count, thoughtsTokenCount: count },
  { requiredKeys: [] },
)
const event = fc.record(
  { candidates: fc.array(candidate, { maxLength: 1 }), usageMetadata },
  { requiredKeys: [] },
)
const last = fc
  .tuple(candidate, finishReason, usageMetadata)
  .map(([candidateParts, finishReason, usageMetadata]) => ({
    candidates: [{ ...candidateParts, finishReason }],
    usageMetadata,
  }))

/** The parts up to the first failure, which can only be one of ours. */
function readAll(events: readonly unknown[]): Part[] {
  const read = google.reader(source)
  const parts: Part[] = []
  try {
    for (const one of events) parts.push(...read(JSON.stringify(one)))
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(ApiError)
  }
  return parts
}

test('any stream of Google gives parts in order: one finish, calls counted up, arguments whole', () => {
  const counts = { finished: 0, calls: 0 }
  const events = fc
    .tuple(fc.array(event, { maxLength: 6 }), last)
    .map(([some, end]) => [...some, end])
  const property = fc.property(events, (events) => {
    const parts = readAll(events)
    const finish = parts.findIndex(({ type }) => type === 'finish')
    if (finish >= 0) {
      counts.finished += 1
      expect(parts.slice(finish + 1).every(({ type }) => type === 'usage')).toBeTrue()
    }
    let calls = 0
    for (const [position, part] of parts.entries()) {
      if (part.type === 'call') {
        expect(part.index).toBe(calls++)
        expect(part.name).not.toBe('')
        expect(parts[position + 1]).toMatchObject({ type: 'arguments', index: part.index })
      }
      // Any object: the text is the model's, who may write a key that Tollgate refuses in a request.
      if (part.type === 'arguments') expect(isObject(JSON.parse(part.text))).toBeTrue()
    }
    if (calls > 0) counts.calls += 1
    expect(Reflect.get({}, 'a')).toBeUndefined()
  })
  const runs = fc.runsOf(2000)
  fc.assert(property, { numRuns: runs })
  expect(counts.finished).toBeGreaterThan(runs / 10)
  expect(counts.calls).toBeGreaterThan(runs / 10)
})
