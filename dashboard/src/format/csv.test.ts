import { expect, test } from 'bun:test'
import { toCsv } from './csv'

test('cells with commas, quotes and line breaks stay one cell', () => {
  const rows = [
    { a: 'x,y', b: 'say "yes"' },
    { a: 'two\nlines', b: 'plain' },
  ]
  expect(toCsv(['a', 'b'], rows)).toBe('a,b\r\n"x,y","say ""yes"""\r\n"two\nlines",plain\r\n')
})

test('numbers are unformatted, and null is an empty cell', () => {
  expect(toCsv(['a', 'b'], [{ a: -0.5, b: null }])).toBe('a,b\r\n-0.5,\r\n')
})

test('texts are escaped so that spreadsheets run no formula', () => {
  const rows = ['=1+1', '+1', '-1', '@x', '\tx'].map((a) => ({ a }))
  expect(toCsv(['a'], rows)).toBe("a\r\n'=1+1\r\n'+1\r\n'-1\r\n'@x\r\n'\tx\r\n")
})
