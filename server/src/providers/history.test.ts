import { describe, expect, test } from 'bun:test'
import { parseArguments } from './history'

function read(text: string) {
  const omitted: string[] = []
  const call = { id: 'a', type: 'function' as const, function: { name: 'f', arguments: text } }
  const input = parseArguments(call, 'it', (field) => omitted.push(field))
  return { input, omitted }
}

test.each([
  ['', {}],
  [' null ', {}],
  ['{"a":{"b":[1]}}', { a: { b: [1] } }],
])('%p is %j', (text, input) => {
  expect(read(text)).toEqual({ input, omitted: [] })
})

describe('finding V13: arguments that are not a JSON object', () => {
  test.each([
    ['{"q": "unfin', { INVALID_JSON: '{"q": "unfin' }],
    ['[1]', { INVALID_JSON: '[1]' }],
    ['look', { INVALID_JSON: 'look' }],
    // Of doubled ones the first.
    ['{"q":1}{"q":1}', { q: 1 }],
  ])('%p is %j, and named', (text, input) => {
    expect(read(text)).toEqual({ input, omitted: ['it.function.arguments'] })
  })
})

test.each([
  ['{"a":{"__proto__":{"x":1}}}', 'not_allowed'],
  [`{"a":${'['.repeat(64)}${']'.repeat(64)}}`, 'too_many'],
  // Also where only the first value is read.
  ['{"a":{"__proto__":{"x":1}}}{}', 'not_allowed'],
  [`{"a":${'['.repeat(64)}${']'.repeat(64)}}{}`, 'too_many'],
])('%.40p is rejected as %s', (text, issue) => {
  expect(() => read(text)).toThrow(
    expect.objectContaining({
      code: 'invalid_request',
      param: 'it.function.arguments',
      details: expect.objectContaining({ issue }),
    }),
  )
})
