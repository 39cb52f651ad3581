import { describe, expect, test } from 'bun:test'
import { packThoughts, readThoughts as readWith, withOwnThoughts } from './thoughts'
import { isObject, type JsonObject } from '../../wire/json-body'
import { packDetails, ThoughtUnpacker } from '../../wire/reasoning-details'

const readThoughts = (item: JsonObject) => readWith(item, new ThoughtUnpacker())

const thought = { type: 'reasoning.text', text: 'Hm — ja.', signature: 'c2ln' }

test('unpacks packed content unchanged', () => {
  expect(readThoughts({ encrypted_content: packThoughts([thought], 'Hm — ja.') })).toEqual({
    text: 'Hm — ja.',
    details: [thought],
  })
})

test('finding V8: a signature without text is packed', () => {
  const silent = { ...thought, text: '' }
  expect(readThoughts({ summary: [], encrypted_content: packThoughts([silent], '') })).toEqual({
    text: '',
    details: [silent],
  })
})

describe('finding V4: text that no provider signed', () => {
  const summary = [
    { type: 'summary_text', text: 'I must' },
    { type: 'summary_text', text: 'look.' },
  ]

  test('is read from the summary', () => {
    expect(readThoughts({ summary })).toEqual({ text: 'I must\n\nlook.', details: [] })
  })

  test('is read from the content before a summary of it', () => {
    const content = [{ type: 'reasoning_text', text: 'All of it.' }]
    expect(readThoughts({ summary, content })).toEqual({ text: 'All of it.', details: [] })
  })

  test('is packed for clients that send back nothing else', () => {
    const encrypted_content = packThoughts([], 'I must look.')
    expect(readThoughts({ summary: [], encrypted_content })).toEqual({
      text: 'I must look.',
      details: [],
    })
    expect(packThoughts([], '')).toBeUndefined()
  })
})

test('recognizes content that OpenAI encrypted', () => {
  expect(readThoughts({ encrypted_content: 'gAAA', id: 'rs_1' }).details).toEqual([
    { type: 'reasoning.encrypted', format: 'openai-responses-v1', data: 'gAAA', id: 'rs_1' },
  ])
})

const packed = (text: string) => `tg1.${Buffer.from(text).toString('base64')}`

test.each([
  ['nothing', undefined],
  ['an empty text', ''],
  ['invalid JSON', 'tg1.!!!'],
  ['no list', packed('{"type":"reasoning.text"}')],
  ['no objects', packed('[1,null,"a"]')],
  ['nesting beyond the limit of a body', packed(`${'['.repeat(100)}${']'.repeat(100)}`)],
])('%s is not a thought', (_what, encrypted_content) => {
  expect(readThoughts({ encrypted_content })).toEqual({ text: '', details: [] })
})

test('finding V4: thoughts in too many pieces are packed as their text', () => {
  const pieces = Array.from({ length: 3000 }, (_, index) => ({ ...thought, index }))
  const encrypted_content = packThoughts(pieces, 'Hm.')
  expect(readThoughts({ encrypted_content })).toEqual({ text: 'Hm.', details: [] })
  expect(packThoughts(pieces, '')).toBeUndefined()
})

test('finding V4: OpenAI’s own thoughts of one request are unpacked within one budget', () => {
  const own = { type: 'reasoning.encrypted', format: 'openai-responses-v1', data: 'gAAA' }
  const encrypted_content = packDetails(Array.from({ length: 1000 }, () => own))
  const input = Array.from({ length: 50 }, () => ({ type: 'reasoning', encrypted_content }))
  const { input: sent } = withOwnThoughts({ input })
  expect(Array.isArray(sent) && sent.every(isObject) && sent.length).toBe(24_000)
})
