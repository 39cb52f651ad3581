import { describe, expect, test } from 'bun:test'
import { maxTags, readTags, TagList, toTagLiteral } from './tags'

test.each([
  ['team:search, batch', ['team:search', 'batch']],
  [' a ,, b,', ['a', 'b']],
  ['two words', ['two words']],
  ['A_b.c:/@+=#-9', ['A_b.c:/@+=#-9']],
  ['', undefined],
  [' , ', undefined],
])('tags are separated by commas: %j', (text, tags) => {
  expect(readTags(text, 'x-tollgate-tags')).toEqual(tags)
})

describe('tags are rejected', () => {
  test.each([
    ['with other characters', 'naïve', 'bad_format'],
    ['with two spaces', 'a  b', 'bad_format'],
    ['with a quote', 'a"b', 'bad_format'],
    ['with a brace', '{a}', 'bad_format'],
    ['with more than 64 characters', 'a'.repeat(65), 'too_long'],
    ['beyond ten', Array.from({ length: maxTags + 1 }, (_, at) => `t${at}`).join(), 'too_many'],
  ])('%s', (_case, text, issue) => {
    expect(() => readTags(text, 'metadata.tags')).toThrow(
      expect.objectContaining({ param: 'metadata.tags', details: { issue } }),
    )
  })
})

test('the tags of a key are sorted, each once', () => {
  expect(TagList.parse(['b', 'a', 'b'])).toEqual(['a', 'b'])
  expect(TagList.safeParse(['a, b']).success).toBe(false)
  expect(TagList.safeParse(['']).success).toBe(false)
})

test('a literal has quotes for a tag that is named null alone', () => {
  expect(toTagLiteral(['Null', 'a b', 'nullable'])).toBe('{"Null",a b,nullable}')
})
