import { test } from 'bun:test'
import {
  array,
  assert,
  constantFrom,
  nat,
  oneof,
  property,
  record,
  string,
  type Arbitrary,
} from '../../../testing/property'
import { signed, messageOf } from '../../../testing/protocols/messages-stream'
import type { OutputPart } from '../../wire/chat-chunks'

const finish: OutputPart = { type: 'finish', reason: 'stop' }

const text = string({ minLength: 1, maxLength: 8 })
const index = nat({ max: 3 })
const contentPart: Arbitrary<OutputPart> = oneof(
  text.map((it): OutputPart => ({ type: 'text', text: it })),
  text.map((it): OutputPart => ({ type: 'reasoning', text: it })),
  text.map((it): OutputPart => ({ type: 'refusal', text: it })),
  text.map((it) => signed('', it)),
  record({ index, name: text }).map(({ index: at, name }): OutputPart => ({
    type: 'call',
    index: at,
    id: `id-${at}`,
    name,
  })),
  record({ index, text: constantFrom('{', '"a":1', '}', ' ', '{}') }).map((it): OutputPart => ({
    type: 'arguments',
    ...it,
  })),
)

/** What was said, by kind. */
function textsOf(parts: readonly OutputPart[]): Record<string, string> {
  const texts: Record<string, string> = {}
  for (const part of parts) {
    if (part.type !== 'text' && part.type !== 'reasoning' && part.type !== 'refusal') continue
    const kind = part.type === 'reasoning' ? 'thinking' : 'text'
    texts[kind] = (texts[kind] ?? '') + part.text
  }
  return texts
}

test('property: for any chunks, blocks never overlap, indexes rise, no text and no call is lost', () => {
  const keepsTexts = property(array(contentPart, { maxLength: 40 }), (parts) => {
    const read = messageOf([...parts, finish])
    const actual: Record<string, string> = {}
    for (const block of read.content) {
      for (const kind of ['text', 'thinking']) {
        if (block['type'] === kind) actual[kind] = (actual[kind] ?? '') + String(block[kind])
      }
    }
    const calls = new Set(parts.flatMap((part) => (part.type === 'call' ? [part.index] : [])))
    const toldCalls = read.content.filter(({ type }) => type === 'tool_use')
    const expected = textsOf(parts)
    return (
      read.problems.length === 0 &&
      (expected['text'] ?? '') === (actual['text'] ?? '') &&
      (expected['thinking'] ?? '') === (actual['thinking'] ?? '') &&
      toldCalls.length === calls.size
    )
  })
  assert(keepsTexts, { numRuns: 2000 })
})
