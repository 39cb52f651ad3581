import { expect, test } from 'bun:test'
import { packThoughts, readThoughts } from './thoughts'

const thought = { type: 'reasoning.text', text: 'Hm — ja.', signature: 'c2ln' }

test('unpacks what it packed, unchanged', () => {
  expect(readThoughts({ encrypted_content: packThoughts([thought]) })).toEqual([thought])
})

test('recognizes content that OpenAI encrypted', () => {
  expect(readThoughts({ encrypted_content: 'gAAA', id: 'rs_1' })).toEqual([
    { type: 'reasoning.encrypted', format: 'openai-responses-v1', data: 'gAAA', id: 'rs_1' },
  ])
})

const packed = (text: string) => `tg1.${Buffer.from(text).toString('base64')}`

test.each([
  ['nothing', undefined],
  ['an empty text', ''],
  ['what is no JSON', 'tg1.!!!'],
  ['no list', packed('{"type":"reasoning.text"}')],
  ['no objects', packed('[1,null,"a"]')],
  ['what no body may nest', packed(`${'['.repeat(100)}${']'.repeat(100)}`)],
])('%s is no thought', (_what, encrypted_content) => {
  expect(readThoughts({ encrypted_content })).toEqual([])
})
