import { expect, test } from 'bun:test'
import { streamLines, toCsvLine } from './csv'

test('cells with commas, quotes and line breaks stay one cell', () => {
  expect(toCsvLine(['x,y', 'say "yes"', 'two\nlines', 'plain', null])).toBe(
    '"x,y","say ""yes""","two\nlines",plain,\r\n',
  )
})

test('texts are escaped so that spreadsheets run no formula', () => {
  for (const text of ['=1+1', '+1', '-1+1', '@x', '\tx', '-']) {
    expect(toCsvLine([text])).toBe(`'${text}\r\n`)
  }
  expect(toCsvLine(['\r=1'])).toBe(`"'\r=1"\r\n`)
})

test('numbers stay numbers, negative ones too', () => {
  expect(toCsvLine([-0.5, '-0.000000001', '12', 7])).toBe('-0.5,-0.000000001,12,7\r\n')
})

test('lines are streamed whole and in order', async () => {
  const stream = streamLines(['a\r\n', 'b\r\n'].values())
  expect(await new Response(stream).text()).toBe('a\r\nb\r\n')
})
