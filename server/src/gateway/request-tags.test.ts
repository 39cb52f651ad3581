import { expect, test } from 'bun:test'
import { readRequestTags } from './request-tags'

test.each([
  ['neither', null, {}, undefined],
  ['a header', 'a, b', { metadata: { team: 'x' } }, ['a', 'b']],
  ['metadata', null, { metadata: { tags: 'c,d' } }, ['c', 'd']],
  ['both', 'a', { metadata: { tags: 'c' } }, ['a', 'c']],
  ['metadata without tags', null, { metadata: { tags: '' } }, undefined],
  ['metadata of another form', null, { metadata: { tags: ['c'] } }, undefined],
  ['no metadata', 'a', { metadata: null }, ['a']],
])('a request has the tags of %s', (_case, tags, body, expected) => {
  expect(readRequestTags({ tags }, body)).toEqual(expected)
})

test.each([
  ['x-tollgate-tags', 'a;b', {}, 'bad_format'],
  ['metadata.tags', null, { metadata: { tags: '["a"]' } }, 'bad_format'],
  ['x-tollgate-tags', 'sk-tg-abcdefgh12345678', {}, 'not_allowed'],
])('%s with %j is rejected', (param, tags, body, issue) => {
  expect(() => readRequestTags({ tags }, body)).toThrow(
    expect.objectContaining({ param, details: { issue } }),
  )
})
