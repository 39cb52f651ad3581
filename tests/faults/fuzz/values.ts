import * as fc from '../../../server/testing/property'
import type { Json } from '../../harness/http'

type Schemas = Readonly<Record<string, Json>>

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : [])
const numberOf = (value: unknown, otherwise: number) =>
  typeof value === 'number' ? value : otherwise

const formats: Readonly<Record<string, fc.Arbitrary<string>>> = {
  email: fc.constantFrom('a@example.com', 'somebody+else@example.org'),
  // Of addresses only unassigned ones.
  uri: fc.constantFrom(
    'https://host.invalid/v1',
    'http://127.0.0.1/',
    'https://[::1]/x',
    'ftp://a',
  ),
  'date-time': fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  date: fc.constantFrom('2026-01-31', '2024-02-29', '1970-01-01'),
}

const maxItems = 4
const maxTextLength = 40

function texts({ pattern, format, ...schema }: Json): fc.Arbitrary<string> {
  const known = typeof format === 'string' ? formats[format] : undefined
  if (known) return known
  const minLength = numberOf(schema['minLength'], 0)
  const maxLength = Math.min(
    numberOf(schema['maxLength'], maxTextLength),
    Math.max(maxTextLength, minLength),
  )
  if (typeof pattern === 'string') {
    const matching = fc.stringMatching(new RegExp(pattern))
    return matching.filter(
      ({ length }) => length >= minLength && length <= Math.max(maxLength, 100),
    )
  }
  return fc.string({ minLength, maxLength, unit: 'grapheme' })
}

const numbers = (schema: Json) => {
  const min = numberOf(schema['minimum'] ?? schema['exclusiveMinimum'], -1e12)
  const max = numberOf(schema['maximum'] ?? schema['exclusiveMaximum'], 1e12)
  return { min, max }
}

/** Values that a schema allows, more or less: what bounds it has are kept, lists are short. */
export function valuesOf(schema: Json, schemas: Schemas, depth = 0): fc.Arbitrary<unknown> {
  const inner = (one: Json) => valuesOf(one, schemas, depth + 1)
  if (depth > 8) return fc.constant(null)
  if (typeof schema['$ref'] === 'string') {
    return inner(schemas[schema['$ref'].replace('#/components/schemas/', '')] ?? {})
  }
  if ('const' in schema) return fc.constant(schema['const'])
  if (Array.isArray(schema['enum'])) return fc.constantFrom<unknown>(...schema['enum'])
  const choices = listOf(schema['anyOf'] ?? schema['oneOf'])
  if (choices.length > 0) return fc.oneof(...choices.map(inner))
  const parts = listOf(schema['allOf'])
  if (parts.length > 0) {
    return fc.tuple(...parts.map(inner)).map((all) => Object.assign({}, ...all.filter(isJson)))
  }
  const types = Array.isArray(schema['type']) ? schema['type'] : [schema['type']]
  return fc.oneof(...types.map((type) => typed({ ...schema, type }, inner)))
}

function typed(
  schema: Json,
  inner: (schema: Json) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  switch (schema['type']) {
    case 'string':
      return texts(schema)
    case 'integer': {
      const { min, max } = numbers(schema)
      return fc.integer({ min: Math.max(min, -(2 ** 31)), max: Math.min(max, 2 ** 31 - 1) })
    }
    case 'number':
      return fc.double({ ...numbers(schema), noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array': {
      const minLength = numberOf(schema['minItems'], 0)
      const maxLength = Math.min(
        numberOf(schema['maxItems'], maxItems),
        Math.max(maxItems, minLength),
      )
      return fc.array(inner(isJson(schema['items']) ? schema['items'] : {}), {
        minLength,
        maxLength,
      })
    }
    case 'object':
      return objects(schema, inner)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function objects(schema: Json, inner: (schema: Json) => fc.Arbitrary<unknown>) {
  const { properties, required, additionalProperties: rest } = schema
  if (!isJson(properties)) {
    const value = isJson(rest) ? inner(rest) : fc.jsonValue({ maxDepth: 1 })
    return fc.dictionary(fc.string({ maxLength: 8 }), value, { maxKeys: maxItems })
  }
  const fields = Object.entries(properties).flatMap(([name, one]) =>
    isJson(one) ? [[name, inner(one)] as const] : [],
  )
  const requiredKeys = Array.isArray(required) ? required.map(String) : []
  return fc.record(Object.fromEntries(fields), { requiredKeys })
}
