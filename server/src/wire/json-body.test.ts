import { expect, test } from 'bun:test'
import { check, parseObject } from './json-body'
import { CompletionRequest } from './completion-request'
import { ApiError } from '../errors'

function refusal(run: () => unknown): ApiError {
  try {
    run()
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown
    throw thrown
  }
  throw new Error('Nothing was refused.')
}

const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`
const lists = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`

test('an object is what it says', () => {
  expect(parseObject('{"a":[1,{"b":null}]}')).toEqual({ a: [1, { b: null }] })
})

test.each([
  ['', 'invalid_json'],
  ['{', 'invalid_json'],
  ['{"a":01}', 'invalid_json'],
  ['{a:1}', 'invalid_json'],
  ['[]', 'wrong_type'],
  ['null', 'wrong_type'],
  ['"text"', 'wrong_type'],
  ['1', 'wrong_type'],
])('%p is refused', (text, issue) => {
  expect(refusal(() => parseObject(text))).toMatchObject({
    code: 'invalid_request',
    param: null,
    details: { issue },
  })
})

test('64 levels are taken, one more is refused, of objects and of lists', () => {
  for (const build of [nested, lists]) {
    expect(parseObject(build(64))).toBeObject()
    expect(refusal(() => parseObject(build(65))).details).toEqual({ issue: 'too_many' })
  }
})

test('a hostile depth is refused as any other, not by a stack', () => {
  expect(refusal(() => parseObject(lists(100_000))).code).toBe('invalid_request')
})

test('the key `__proto__` is refused wherever it is, and changes no prototype', () => {
  for (const text of [
    '{"__proto__":{"admin":true}}',
    '{"a":[{"b":{"__proto__":1}}]}',
    '{"\\u005f_proto__":null}',
  ]) {
    expect(refusal(() => parseObject(text))).toMatchObject({
      param: null,
      details: { issue: 'not_allowed' },
    })
  }
  expect(Reflect.get({}, 'admin')).toBeUndefined()
  const own = parseObject('{"constructor":1,"toString":2}')
  expect(Object.entries(own)).toEqual([
    ['constructor', 1],
    ['toString', 2],
  ])
})

test('what a schema does not name is still there after the check', () => {
  const body = { model: 'a/b', prompt: 'x', top_k: 5 }
  expect(check(CompletionRequest, body)).toEqual(body)
})

test('an object in the place of a text is a wrong type, whatever it says of its length', () => {
  const model = { length: { toString: 1, valueOf: 1 } }
  const refused = refusal(() => check(CompletionRequest, { model, prompt: 'a' }))
  expect([refused.param, refused.details]).toEqual(['model', { issue: 'wrong_type' }])
})
