import { expect, test } from 'bun:test'
import { parseArguments } from './history'

const read = (text: string) =>
  parseArguments({ id: 'a', type: 'function', function: { name: 'f', arguments: text } }, 'it')

test.each([
  ['', {}],
  [' null ', {}],
  ['{"a":{"b":[1]}}', { a: { b: [1] } }],
])('%p is %j', (text, value) => {
  expect(read(text)).toEqual(value)
})

test.each([
  ['{"a"', 'invalid_json'],
  ['[1]', 'wrong_type'],
  ['{"a":{"__proto__":{"x":1}}}', 'not_allowed'],
  [`{"a":${'['.repeat(64)}${']'.repeat(64)}}`, 'too_many'],
])('%.40p is refused as %s', (text, issue) => {
  expect(() => read(text)).toThrow(
    expect.objectContaining({
      code: 'invalid_request',
      param: 'it.function.arguments',
      details: expect.objectContaining({ issue }),
    }),
  )
})
