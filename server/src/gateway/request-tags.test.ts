import { expect, test } from 'bun:test'
import { readRequestTags } from './request-tags'

test.each([
  ['neither', { tags: null, body: {} }, undefined],
  ['a header', { tags: 'a, b', body: { metadata: { team: 'x' } } }, ['a', 'b']],
  ['metadata', { tags: null, body: { metadata: { tags: 'c,d' } } }, ['c', 'd']],
  ['both', { tags: 'a', body: { metadata: { tags: 'c' } } }, ['a', 'c']],
  ['metadata without tags', { tags: null, body: { metadata: { tags: '' } } }, undefined],
  ['metadata of another form', { tags: null, body: { metadata: { tags: ['c'] } } }, undefined],
  [
    'metadata that means something else',
    { tags: 'a', body: { metadata: { tags: '["c"]' } } },
    ['a'],
  ],
  [
    'metadata with a key',
    { tags: null, body: { metadata: { tags: 'sk-tg-abcdefgh12345678' } } },
    undefined,
  ],
  ['no metadata', { tags: 'a', body: { metadata: null } }, ['a']],
])('a request has the tags of %s', (_case, { tags, body }, expected) => {
  expect(readRequestTags({ tags }, body)).toEqual(expected)
})

test.each([
  ['x-tollgate-tags', { tags: 'a;b', body: {} }, 'bad_format'],
  ['x-tollgate-tags', { tags: 'sk-tg-abcdefgh12345678', body: {} }, 'not_allowed'],
])('%s is rejected: %j', (param, { tags, body }, issue) => {
  expect(() => readRequestTags({ tags }, body)).toThrow(
    expect.objectContaining({ param, details: { issue } }),
  )
})
