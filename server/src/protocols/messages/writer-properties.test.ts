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
import { signed, told } from '../../../testing/protocols/messages-stream'
import type { SaidPart } from '../../wire/chat-chunks'

const finish: SaidPart = { type: 'finish', reason: 'stop' }

const text = string({ minLength: 1, maxLength: 8 })
const index = nat({ max: 3 })
const said: Arbitrary<SaidPart> = oneof(
  text.map((it): SaidPart => ({ type: 'text', text: it })),
  text.map((it): SaidPart => ({ type: 'reasoning', text: it })),
  text.map((it): SaidPart => ({ type: 'refusal', text: it })),
  text.map((it) => signed('', it)),
  record({ index, name: text }).map(({ index: at, name }): SaidPart => ({
    type: 'call',
    index: at,
    id: `id-${at}`,
    name,
  })),
  record({ index, text: constantFrom('{', '"a":1', '}', ' ', '{}') }).map((it): SaidPart => ({
    type: 'arguments',
    ...it,
  })),
)

/** What was said, by kind. */
function textsOf(parts: readonly SaidPart[]): Record<string, string> {
  const texts: Record<string, string> = {}
  for (const part of parts) {
    if (part.type !== 'text' && part.type !== 'reasoning' && part.type !== 'refusal') continue
    const kind = part.type === 'reasoning' ? 'thinking' : 'text'
    texts[kind] = (texts[kind] ?? '') + part.text
  }
  return texts
}

test('property: whatever the chunks, blocks never overlap, indexes rise, no text and no call is lost', () => {
  const kept = property(array(said, { maxLength: 40 }), (parts) => {
    const read = told([...parts, finish])
    const seen: Record<string, string> = {}
    for (const block of read.content) {
      for (const kind of ['text', 'thinking']) {
        if (block['type'] === kind) seen[kind] = (seen[kind] ?? '') + String(block[kind])
      }
    }
    const calls = new Set(parts.flatMap((part) => (part.type === 'call' ? [part.index] : [])))
    const toldCalls = read.content.filter(({ type }) => type === 'tool_use')
    const wanted = textsOf(parts)
    return (
      read.problems.length === 0 &&
      (wanted['text'] ?? '') === (seen['text'] ?? '') &&
      (wanted['thinking'] ?? '') === (seen['thinking'] ?? '') &&
      toldCalls.length === calls.size
    )
  })
  assert(kept, { numRuns: 2000 })
})
