import { expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { JsonSlices, parseShaped } from './json-slices'
import { ShapeExceeded, type ShapeLimits } from './json-shape'

const roomy: ShapeLimits = { maxDepth: 64, maxNodes: 1e6, maxValues: 1e7, maxNames: 1e6 }

/** Parses in slices, whatever the length; tells in how many. */
function sliced(text: string, lengths?: typeof tiny): { value: unknown; steps: number } {
  const slices = new JsonSlices(text, roomy, lengths)
  let steps = 0
  while (!slices.result) {
    slices.step()
    steps += 1
  }
  return { value: slices.result.value, steps }
}

function outcome(parse: () => unknown): unknown {
  try {
    return { value: parse() }
  } catch (thrown) {
    return thrown instanceof SyntaxError ? 'no JSON' : thrown
  }
}

/** So that small texts are put together as large ones are. */
const tiny = { run: 16, longText: 24, slice: 7, scan: 5 }
const long = 'x'.repeat(40)
const longest = 'é"\\\n'.repeat(20)

test('S3: parsing in slices gives the result of JSON.parse', () => {
  const leaf = fc.oneof(
    fc.json(),
    fc.constant(JSON.stringify(long)),
    fc.constant(JSON.stringify(longest)),
  )
  const space = fc.constantFrom('', ' ', '\n\t', '\r')
  const name = fc.oneof(fc.string({ maxLength: 3 }), fc.constant('__proto__'), fc.constant('0'))
  const { node } = fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc
        .tuple(fc.array(tie('node'), { maxLength: 6 }), space)
        .map(([items, gap]) => `${gap}[${gap}${items.join(`${gap},${gap}`)}${gap}]`),
      fc
        .tuple(fc.array(fc.tuple(name, tie('node')), { maxLength: 6 }), space)
        .map(
          ([members, gap]) =>
            `{${gap}${members.map(([key, value]) => `${JSON.stringify(key)}${gap}:${gap}${value}`).join(`${gap},`)}${gap}}`,
        ),
    ),
  }))
  const property = fc.property(node, (text) => {
    const { value } = sliced(text, tiny)
    const expected: unknown = JSON.parse(text)
    expect(value).toEqual(expected)
    expect(JSON.stringify(value)).toBe(JSON.stringify(expected))
  })
  fc.assert(property, { numRuns: 500 })
})

test('S3: parsing in slices rejects the same texts as the engine', () => {
  const big = JSON.stringify(long)
  const bigger = JSON.stringify(longest)
  const pieces = fc.constantFrom(
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    '"a"',
    '1',
    '-',
    'null',
    ' ',
    big,
    bigger,
    '"b":',
    '[1,2]',
    '{"c":3}',
    `[${big}]`,
    '\u00a0',
    '\\',
  )
  const property = fc.property(fc.array(pieces, { maxLength: 14 }), (parts) => {
    for (const text of [
      parts.join(''),
      `[${parts.join('')}]`,
      `{"a":${parts.join('')}}`,
      `{"x":${bigger},${parts.join('')}}`,
    ]) {
      const actual = outcome(() => sliced(text, tiny).value)
      // A long name is the only difference.
      if (!(actual instanceof ShapeExceeded))
        expect(actual).toEqual(outcome(() => JSON.parse(text)))
    }
  })
  fc.assert(property, { numRuns: 3000 })
})

test('S3: a text cut at any place is not JSON', () => {
  const text = `{"a":[1,{"b":${JSON.stringify(longest)}}],"c":${JSON.stringify(long)}}`
  for (let cut = 0; cut < text.length; cut++) {
    expect(outcome(() => sliced(text.slice(0, cut), tiny).value)).toBe('no JSON')
  }
})

test('S3: a long text of escapes, a list of numbers and an object of many names take many slices', () => {
  const escapes = sliced(`{"a":"${'\\"'.repeat(1_000_000)}"}`)
  expect(escapes.value).toEqual({ a: '"'.repeat(1_000_000) })
  expect(escapes.steps).toBeGreaterThan(200)
  const numbers = sliced(`{"a":[${'0,'.repeat(1_000_000)}1]}`)
  expect(numbers.steps).toBeGreaterThan(200)
  const names = Array.from({ length: 100_000 }, (_, at) => `"k${at}":1`).join(',')
  expect(sliced(`{${names}}`).steps).toBeGreaterThan(100)
})

test.each([
  [
    'depth',
    `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
    'a',
    'is nested deeper than 64 levels',
  ],
  ['depth that never ends', `{"a":${'['.repeat(200_000)}`, 'a', 'is nested deeper than 64 levels'],
  [
    'objects',
    `{"b":[${'{},'.repeat(200_000)}{}]}`,
    'b',
    'has more than 1000 objects, lists and names',
  ],
  ['values', `{"c":[${'0,'.repeat(200_000)}0]}`, 'c', 'has more than 5000 values'],
  [
    'names',
    `{"d":{${Array.from({ length: 9999 }, (_, at) => `"k${at}":1`).join(',')}}}`,
    'd',
    'has an object with more than 100 names',
  ],
  [
    'names of its own',
    `{${Array.from({ length: 9999 }, (_, at) => `"k${at}":1`).join(',')}}`,
    undefined,
    'has an object with more than 100 names',
  ],
])(
  'S3: %s beyond a limit are rejected before they are built, with the field',
  (_what, text, ...[field, message]) => {
    const limits = { maxDepth: 64, maxNodes: 1000, maxValues: 5000, maxNames: 100 }
    const refused = outcome(() => parseShaped(text, limits))
    expect(refused).toBeInstanceOf(ShapeExceeded)
    expect(refused).toMatchObject({ field, message })
  },
)

test('S3: accepts a body within the limits', () => {
  const limits = { maxDepth: 3, maxNodes: 12, maxValues: 14, maxNames: 3 }
  const text = `{"a":[[1,2,3,4,5],{}],"b":{"c":1,"d":"${'x'.repeat(10_000)}"},"e":0}`
  expect(parseShaped(text, limits)).toEqual(JSON.parse(text))
  for (const name of ['maxDepth', 'maxNodes', 'maxNames'] as const) {
    const less = { ...limits, [name]: name === 'maxNodes' ? 8 : limits[name] - 1 }
    expect(outcome(() => parseShaped(text, less))).toBeInstanceOf(ShapeExceeded)
  }
})
