import { describe, expect, test } from 'bun:test'
import { sample } from './sample'

const object = (properties: object, rest: object = {}) => ({ type: 'object', properties, ...rest })
const place = object({ name: { type: 'string' } }, { required: ['name'] })

test.each<[unknown, unknown]>([
  [{ type: 'string' }, 'sample'],
  [{ type: 'string', minLength: 8 }, 'samplexx'],
  [{ type: 'string', maxLength: 3 }, 'sam'],
  [{ type: 'string', format: 'date' }, '2026-01-31'],
  [{ type: ['null', 'boolean'] }, true],
  [{ type: 'null' }, null],
  [{ enum: ['b', 'a'] }, 'b'],
  [{ const: null }, null],
  [{ type: 'integer', default: 5 }, 5],
  [{ type: 'integer', minimum: 3.5 }, 4],
  [{ type: 'integer', exclusiveMinimum: 3 }, 4],
  [{ type: 'integer', maximum: -2 }, -2],
  [{ type: 'integer', exclusiveMaximum: 0 }, -1],
  [{ type: 'integer', minimum: 7, multipleOf: 5 }, 10],
  [{ type: 'number', minimum: 0.25, maximum: 0.75 }, 0.5],
  [{ type: 'number', multipleOf: 0 }, 1],
  [{ type: 'array', items: { type: 'integer' } }, [1]],
  [{ type: 'array', items: { type: 'integer' }, minItems: 3 }, [1, 1, 1]],
  [{ type: 'array', maxItems: 0 }, []],
  [{ prefixItems: [{ type: 'integer' }, { type: 'boolean' }] }, [1, true]],
  [object({ a: place, b: place }, { required: ['b'] }), { b: { name: 'sample' } }],
  [object({ a: place, b: { type: 'integer' } }), { a: { name: 'sample' }, b: 1 }],
  [{ anyOf: [{ type: 'null' }, place] }, { name: 'sample' }],
  [{ oneOf: [{ type: 'integer' }] }, 1],
  [
    { allOf: [place, object({ size: { type: 'integer' } }, { required: ['size'] })] },
    { name: 'sample', size: 1 },
  ],
  [
    { $defs: { place }, type: 'object', properties: { at: { $ref: '#/$defs/place' } } },
    { at: { name: 'sample' } },
  ],
  [{}, 'sample'],
  [true, 'sample'],
  [object({}, { required: ['toString'] }), { toString: 'sample' }],
])('%j gives %j', (schema, expected) => {
  expect(sample(schema)).toEqual(expected)
})

const size = (value: unknown) => JSON.stringify(value).length

describe('hostile schemas', () => {
  test('a schema that contains itself ends', () => {
    const node = object({ left: { $ref: '#' }, right: { $ref: '#' } })
    expect(size(sample(node))).toBeLessThan(100_000)
    expect(sample({ $ref: '#' })).toBe('sample')
  })

  test('a schema that unfolds into millions of values ends', () => {
    const names = Array.from({ length: 40 }, (_, index) => `p${index}`)
    const level = (next: string) =>
      object(Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${next}` }])))
    const $defs = { a: level('b'), b: level('c'), c: level('d'), d: level('a') }
    expect(size(sample({ $defs, $ref: '#/$defs/a' }))).toBeLessThan(1_000_000)
  })

  test('absurd lengths are not made', () => {
    const schema = { type: 'array', minItems: 1e9, items: { type: 'string', minLength: 1e9 } }
    expect(size(sample(schema))).toBeLessThan(20_000)
  })

  test('a property named __proto__ is just a property', () => {
    const schema: unknown = JSON.parse('{"properties":{"__proto__":{"type":"integer"}}}')
    expect(JSON.stringify(sample(schema))).toBe('{"__proto__":1}')
  })
})
