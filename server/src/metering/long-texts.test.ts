import { expect, test } from 'bun:test'
import { findLongTexts, pickLongTexts } from './long-texts'

const long = (letter: string) => letter.repeat(100)

test('finds the long texts of messages, calls and tools, each as often as it occurs', () => {
  const body = {
    model: 'fake/one',
    messages: [
      { role: 'system', content: long('s') },
      { role: 'user', content: [{ type: 'text', text: long('u') }, 'short'] },
      { role: 'user', content: long('u') },
      { role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: long('a') } }] },
    ],
    tools: [{ type: 'function', function: { name: 'f', description: long('t') } }],
    response_format: null,
  }
  const expected = [long('s'), long('u'), long('u'), long('a'), long('t')]
  expect(findLongTexts(body).toSorted()).toEqual(expected.toSorted())
})

test('media data have no tokens: their bytes do not determine their bound', () => {
  const data = long('A')
  const content = [
    { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
    { type: 'input_audio', input_audio: { data, format: 'mp3' } },
    { type: 'file', file: { file_data: data } },
    { type: 'text', text: long('t') },
  ]
  expect(findLongTexts({ messages: [{ role: 'user', content }] })).toEqual([long('t')])
})

test('returns some texts of a very large body', () => {
  const many = Array.from({ length: 300_000 }, () => long('a'))
  const some = findLongTexts({ messages: many })
  expect(some.length).toBeGreaterThan(10_000)
  expect(some.join('').length).toBeLessThanOrEqual(4 * 1024 * 1024)
  expect(pickLongTexts(['x'.repeat(5_000_000), long('a'), 'b'])).toEqual([long('a')])
})
