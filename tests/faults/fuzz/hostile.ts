import * as fc from '../../../server/testing/property'

const nul = String.fromCharCode(0)

/** Texts that programs often forget to handle. */
export const hostileText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '0',
    '-1',
    '1e3',
    '101',
    '99999999999999999999',
    '0x10',
    'NaN',
    'null',
    'true',
    'undefined',
    'constructor',
    '__proto__',
    `a${nul}b`,
    nul,
    '\u{1F9FE}',
    '\uD800',
    '\uFFFF',
    "' or '1'='1",
    '%',
    '_',
    '\\',
    '%00',
    '%zz',
    '..',
    '../..',
    '/',
    '//host.invalid/',
    '?',
    '#',
    '*',
    '<b>',
    '${1}',
    'a\r\nb: c',
    '0000-00-00',
    '2026-02-30',
    '2026-01-31T09:30:00.000Z',
    '+275760-09-13T00:00:00.000Z',
    '-000001-01-01T00:00:00Z',
    'x'.repeat(300),
    // Several of them still fit into what the server reads of a request's head.
    'é'.repeat(400),
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
)

const deep = (levels: number): unknown => (levels === 0 ? [] : [deep(levels - 1)])

/** Values in the place of another. */
const hostileValue = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -0,
    -1,
    1.5,
    1e-9,
    1e-10,
    1e308,
    2 ** 31,
    2 ** 53,
    2 ** 63,
    [],
    {},
    [null],
    [[]],
    { length: 1 },
    { toString: 1, constructor: 1 },
    { length: { toString: 1, valueOf: 1 } },
    deep(40),
    Array.from({ length: 300 }, (_, index) => index),
  ),
  fc.jsonValue({ maxDepth: 2 }),
)

interface Change {
  /** Which of the places of a value, counted from its root. */
  at: number
  how: 'put' | 'drop' | 'add' | 'repeat'
  value: unknown
}

const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(1000),
  how: fc.constantFrom('put', 'put', 'drop', 'add', 'repeat'),
  value: hostileValue,
})

/** Where something can be changed: a list or an object, and the key in it. */
interface Place {
  inside: object
  key: string
}

function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) => [{ inside: value, key }, ...placesIn(one)])
}

function apply(value: unknown, { at, how, value: other }: Change): unknown {
  const copy: unknown = structuredClone(value)
  const places = placesIn(copy)
  const place = places[at % Math.max(1, places.length)]
  if (!place) return other
  const { inside, key } = place
  if (Array.isArray(inside)) {
    const index = Number(key)
    if (how === 'drop') inside.splice(index, 1)
    else if (how === 'put') inside[index] = other
    else inside.push(how === 'add' ? other : inside[index])
    return copy
  }
  if (how === 'drop') Reflect.deleteProperty(inside, key)
  else Object.assign(inside, { [how === 'add' ? `${key}_` : key]: other })
  return copy
}

/** Values of `base`, some of them with something in them that does not belong there. */
export const damage = (base: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(base, fc.array(change, { maxLength: 2 }))
    .map(([value, changes]) => changes.reduce<unknown>(apply, value))

/** Bodies that are no JSON object, or hardly one. */
export const brokenBody = fc.constantFrom(
  '',
  '{',
  '[]',
  'null',
  '"text"',
  '1',
  '{}',
  '{"a":1,}',
  "{'a':1}",
  '{"a":NaN}',
  '\uFEFF{}',
  '{"__proto__":{"admin":true}}',
  '{"name":{"__proto__":{"a":1}}}',
  '{"constructor":{"prototype":{"a":1}}}',
  '{"name":"a","name":"b"}',
  '{"name":"\\ud800"}',
  '{"name":"\\u0000"}',
  '{"name":1e999}',
  `${'['.repeat(500)}${']'.repeat(500)}`,
  `{"a":${'{"a":'.repeat(70)}1${'}'.repeat(71)}`,
)
