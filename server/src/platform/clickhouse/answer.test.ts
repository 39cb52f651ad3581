import { expect, test } from 'bun:test'
import { parseRows } from './answer'

const error = 'Code: 395. DB::Exception: Value is non-zero. (FUNCTION_THROW_IF_VALUE_IS_NON_ZERO)\n'

test('rows are the lines of an answer', () => {
  expect(parseRows('', 'q')).toEqual([])
  expect(parseRows('{"a":"1"}\n{"a":"Code: 1. DB::Exception"}\n', 'q')).toEqual([
    { a: '1' },
    { a: 'Code: 1. DB::Exception' },
  ])
})

test.each([
  ['behind a row', `{"a":"1"}\n${error}`, 395],
  ['within a row', `{"a":"1"}\n{"a":"${error}`, 395],
  ['at once', error, 395],
  ['of an old version', '{"a":1}\nCode: 241, e.displayText() = DB::Exception: memory\n', 241],
  ['between marks', `{"a":1}\n\r\n__exception__\r\ntag\r\n${error}9 tag\r\n__exception__\r\n`, 395],
  ['a missing line: a row was cut off', '{"a":"1"}\n{"a"', undefined],
  ['a missing line: the last line feed was cut off', '{"a":"1"}', undefined],
  ['another text', '{"a":"1"}\n<html>\n', undefined],
])('an error %s is one', (_name, text, code) => {
  let thrown: unknown
  try {
    parseRows(text, 'q')
  } catch (caught) {
    thrown = caught
  }
  expect(thrown).toMatchObject({ name: 'ClickHouseRejection', code })
})
