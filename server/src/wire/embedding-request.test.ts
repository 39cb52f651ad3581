import { expect, test } from 'bun:test'
import { EmbeddingRequest, toInputs } from './embedding-request'
import { check } from './json-body'

const data = 'data:image/png;base64,AAAA'
const read = (input: unknown) => toInputs(check(EmbeddingRequest, { model: 'a/b', input }).input)

test.each<[unknown, unknown]>([
  ['a', ['a']],
  [
    ['a', 'b'],
    ['a', 'b'],
  ],
  [[1, 2], [[1, 2]]],
  [
    [[1, 2], [3]],
    [[1, 2], [3]],
  ],
  // As OpenRouter, Cohere and Voyage have it.
  [[{ content: [{ type: 'text', text: 'a' }] }], ['a']],
  [
    [
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'image_url', image_url: { url: data } },
        ],
      },
      'b',
    ],
    [{ parts: [{ text: 'a' }, { image: data }] }, 'b'],
  ],
  [[{ content: [{ type: 'image_url', image_url: data }] }], [{ parts: [{ image: data }] }]],
  // As Jina has it.
  [
    [{ text: 'a' }, { image: 'https://images.example/a.png' }],
    ['a', { parts: [{ image: 'https://images.example/a.png' }] }],
  ],
])('%o is a list of inputs', (input, expected) => {
  const inputs: unknown = read(input)
  expect(inputs).toEqual(expected)
})

test.each<[string, unknown]>([
  ['nothing', []],
  ['an empty text', ['a', '']],
  ['texts and token ids', ['a', [1]]],
  ['token ids and parts', [[1], { text: 'a' }]],
  ['an input without parts', [{ content: [] }]],
  [
    'a part of another kind',
    [{ content: [{ type: 'video_url', video_url: { url: 'https://a' } }] }],
  ],
  ['a file', [{ image: 'file:///etc/passwd' }]],
  ['a text that only looks like data', [{ image: 'data:text/html;base64,AAAA' }]],
  ['too many', Array.from({ length: 2049 }, () => 'a')],
])('%s: 400 at input', (_name, input) => {
  let thrown: unknown
  try {
    read(input)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toMatchObject({ status: 400, code: 'invalid_request' })
  expect(String(Object(thrown)['param'])).toStartWith('input')
})
