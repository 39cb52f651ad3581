import { expect, test } from 'bun:test'
import { findFirst, formOf } from './first-bytes'

const encode = (text: string) => new TextEncoder().encode(text)

test.each([
  ['data: {}', 'events'],
  ['event: x', 'events'],
  [': comment', 'events'],
  ['id: 1', 'events'],
  ['retry: 5', 'events'],
  ['\u{FEFF}data: {}', 'events'],
  ['\r\n\n \tdata: {}', 'events'],
  ['{"a":1}', 'json'],
  ['\u{FEFF}\n[1]', 'json'],
  ['<!doctype html>', 'other'],
  ['Bad gateway', 'other'],
] as const)('finding V12: %j is of the form %s', (text, form) => {
  const first = findFirst(encode(text))
  expect(first === undefined ? undefined : formOf(first)).toBe(form)
})

test('blanks alone have no form yet', () => {
  expect(findFirst(encode(''))).toBeUndefined()
  expect(findFirst(encode('\u{FEFF}\r\n \n'))).toBeUndefined()
})
