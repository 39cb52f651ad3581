import { expect, spyOn, test } from 'bun:test'
import { check, parseObject, readObject } from './json-body'
import { CompletionRequest } from './completion-request'
import { ApiError } from '../errors'
import { systemClock } from '../platform/clock'

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

test('an object equals its source', () => {
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
])('%p is rejected', (text, issue) => {
  expect(refusal(() => parseObject(text))).toMatchObject({
    code: 'invalid_request',
    param: null,
    details: { issue },
  })
})

test('64 levels are taken, one more is rejected, of objects and of lists', () => {
  for (const build of [nested, lists]) {
    expect(parseObject(build(64))).toBeObject()
    expect(refusal(() => parseObject(build(65))).details).toEqual({ issue: 'too_many' })
  }
})

test('a hostile depth is rejected by the limit, not by a stack overflow', () => {
  expect(refusal(() => parseObject(lists(100_000))).code).toBe('invalid_request')
})

test('the key `__proto__` is rejected at every place, and changes no prototype', () => {
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

test('keeps fields that a schema does not name', () => {
  const body = { model: 'a/b', prompt: 'x', top_k: 5 }
  expect(check(CompletionRequest, body)).toEqual(body)
})

test('an object in the place of a text is a wrong type, for any length field', () => {
  const model = { length: { toString: 1, valueOf: 1 } }
  const refused = refusal(() => check(CompletionRequest, { model, prompt: 'a' }))
  expect([refused.param, refused.details]).toEqual(['model', { issue: 'wrong_type' }])
})

const unpaused = () => Promise.resolve()

/** What is wrong with a large body. */
const refusalOf = async (text: string) => {
  try {
    await readObject(text, unpaused)
  } catch (thrown) {
    if (thrown instanceof ApiError) return [thrown.status, thrown.param, thrown.message]
    throw thrown
  }
  throw new Error('it was taken')
}

const many = (count: number, item: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => item(at)).join(',')

test.each([
  [
    '1.5 M entries of a map',
    `{"logit_bias":{${many(1_500_000, (at) => `"${at}":1`)}}}`,
    'logit_bias',
    'logit_bias has an object with more than 10000 names.',
  ],
  [
    '2 M unknown fields',
    `{${many(2_000_000, (at) => `"k${at}":1`)}}`,
    null,
    'The body has an object with more than 10000 names.',
  ],
  [
    '5 M empty objects',
    `{"x":[${many(5_000_000, () => '{}')}]}`,
    'x',
    'x has more than 100000 objects, lists and names.',
  ],
  ['8 M numbers', `{"x":[${many(8_000_000, () => '0')}]}`, 'x', 'x has more than 400000 values.'],
  [
    '200,000 levels',
    `{"x":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
    'x',
    'x is nested deeper than 64 levels.',
  ],
])(
  'S3: a large body of %s is 400, with the field and the limit',
  async (_what, text, ...[field, explanation]) => {
    expect(await refusalOf(text)).toEqual([400, field, explanation])
  },
)

test('S3: a large invalid body is rejected with the same text as a small one', async () => {
  const long = 'x'.repeat(100_000)
  expect(await refusalOf(`{"a":"${long}"`)).toEqual([400, null, 'The body is not valid JSON.'])
  expect(await refusalOf(`["${long}"]`)).toEqual([400, null, 'The body must be a JSON object.'])
  expect(await refusalOf(`{"a":"${long}","__proto__":{}}`)).toEqual([
    400,
    null,
    'The key "__proto__" is not accepted.',
  ])
})

/** Lets half a millisecond pass with each look at the clock, whatever the speed of this machine. */
function slowClock() {
  let nowMs = 1000
  return spyOn(systemClock, 'monotonicMs').mockImplementation(() => (nowMs += 0.5))
}

test('S3: parses a large body like a small one, and lets other requests run meanwhile', async () => {
  using _clock = slowClock()
  const text = JSON.stringify({ a: '\\"\n'.repeat(3_000_000), b: [1, { c: 'd' }] })
  let pauses = 0
  const body = await readObject(text, async (ms) => {
    pauses += 1
    expect(ms).toBe(2)
  })
  expect(body).toEqual(JSON.parse(text))
  expect(pauses).toBeGreaterThan(3)
})
