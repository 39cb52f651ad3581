import { expect, test } from 'bun:test'
import { z } from 'zod'
import { flag, searchText } from './query'
import { check } from '../wire/json-body'

test('a search is trimmed, cut at 100 characters, and absent without text', () => {
  expect(searchText().parse(' a b ')).toBe('a b')
  expect(searchText().parse('a'.repeat(200))).toBe('a'.repeat(100))
  expect(searchText().parse('  ')).toBeUndefined()
  expect(searchText().parse(undefined)).toBeUndefined()
})

test('a flag is true or false, and rejected as anything else', () => {
  expect(flag.parse('true')).toBe(true)
  expect(flag.parse('false')).toBe(false)
  expect(() => check(z.object({ flag }), { flag: '1' })).toThrow('flag:')
})
