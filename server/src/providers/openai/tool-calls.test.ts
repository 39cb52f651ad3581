import { expect, test } from 'bun:test'
import { ToolCallDeltas, toCompleteArguments } from './tool-calls'
import type { JsonObject } from '../../wire/json-body'

function relayed(entries: readonly JsonObject[]) {
  let created = 0
  const calls = new ToolCallDeltas({ newCallId: () => `call_made_${++created}` })
  return [...entries.flatMap((entry) => calls.next(entry)), ...calls.close()]
}

const head = (index: number, id: string, name: string) => ({
  index,
  id,
  type: 'function',
  function: { name, arguments: '' },
})
const piece = (index: number, text: string) => ({ index, function: { arguments: text } })

test('R11: fragments pass as they are', () => {
  const entries = [head(0, 'a', 'f'), piece(0, '{"x"'), piece(0, ':1}')]
  expect(relayed(entries)).toEqual(entries)
})

test('R11: a whole call becomes its name, then its arguments', () => {
  const entry = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }
  expect(relayed([entry])).toEqual([head(0, 'a', 'f'), piece(0, '{}')])
})

const entry = (id: string) => ({ id, function: { name: 'f', arguments: '{}' } })

test('R11: without index and type, each id is a call of its own', () => {
  expect(relayed([entry('a'), entry('b')])).toEqual([
    head(0, 'a', 'f'),
    piece(0, '{}'),
    head(1, 'b', 'f'),
    piece(1, '{}'),
  ])
})

test('R11: without index and id, a name begins a call and the rest continues it', () => {
  const named = { function: { name: 'f', arguments: '' } }
  const more = { function: { arguments: '{}' } }
  expect(relayed([named, more, named, more])).toEqual([
    head(0, 'call_made_1', 'f'),
    piece(0, '{}'),
    head(1, 'call_made_2', 'f'),
    piece(1, '{}'),
  ])
})

test('R11: indexes count up from 0, wherever the provider begins', () => {
  expect(relayed([head(3, 'a', 'f'), head(7, 'b', 'g'), piece(3, '1'), piece(7, '2')])).toEqual([
    head(0, 'a', 'f'),
    head(1, 'b', 'g'),
    piece(0, '1'),
    piece(1, '2'),
  ])
})

test('R11: names and ids that are repeated are said once', () => {
  const again = { ...head(0, 'a', 'f'), function: { name: 'f', arguments: '{}' } }
  expect(relayed([head(0, 'a', 'f'), again])).toEqual([head(0, 'a', 'f'), piece(0, '{}')])
})

test('R12: a call without arguments has `{}`, one with them does not', () => {
  expect(relayed([head(0, 'a', 'f'), head(1, 'b', 'g'), piece(1, '{"x":1}')])).toEqual([
    head(0, 'a', 'f'),
    head(1, 'b', 'g'),
    piece(1, '{"x":1}'),
    piece(0, '{}'),
  ])
})

test('R12: `null` and blanks in place of arguments are none', () => {
  for (const none of ['null', ' ', null]) {
    const entry = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: none } }
    expect(relayed([entry])).toEqual([head(0, 'a', 'f'), piece(0, '{}')])
  }
})

test('arguments that are an object become their text', () => {
  const entry = { index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } }
  expect(relayed([entry])).toEqual([head(0, 'a', 'f'), piece(0, '{"x":1}')])
})

test('passes further fields of a call on with its first chunk', () => {
  const extra_content = { google: { thought_signature: 's' } }
  expect(relayed([{ ...head(0, 'a', 'f'), extra_content }])[0]).toEqual({
    ...head(0, 'a', 'f'),
    extra_content,
  })
})

test.each([
  ['{"a":1}', '{"a":1}'],
  ['', '{}'],
  [' \n', '{}'],
  ['null', '{}'],
  [null, '{}'],
  [undefined, '{}'],
  [{ a: 1 }, '{"a":1}'],
])('R12: whole arguments %p are %s', (value, text) => {
  expect(toCompleteArguments(value)).toBe(text)
})
