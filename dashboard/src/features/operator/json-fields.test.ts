import { expect, test } from 'bun:test'
import { fromJson, jsonProblem, jsonTextOf } from './json-fields'

test.each([[undefined], [null], [{}], [[]], ['text'], [0]])(
  'a field of %p is empty',
  (value: unknown) => {
    expect(jsonTextOf(value)).toBe('')
  },
)

test('an object is unchanged by a field that is saved as it was loaded', () => {
  const value = { timeouts: { idle: 5 }, allow: ['a'] }
  expect(fromJson(jsonTextOf(value))).toEqual(value)
})

test('an empty field is valid, and an object without fields', () => {
  expect([jsonProblem(' \n'), fromJson(' ')]).toEqual([null, {}])
})

test('invalid JSON is reported', () => {
  expect(jsonProblem('{"a": 1}')).toBeNull()
  expect(jsonProblem('{"a": ')).toBe('This is not valid JSON.')
})
