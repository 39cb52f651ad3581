import { toList } from '../../wire/json-body'

/** A JSON schema as it comes from a caller: nothing in it is sure. */
type Schema = Record<string, unknown>

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined

// References can make a schema endless, or let a short one unfold into millions of values.
const deepest = 8
const maxValues = 1000
const maxItems = 16
const maxTextLength = 1024

const formats: Record<string, string> = {
  'date-time': '2026-01-31T09:30:00Z',
  date: '2026-01-31',
  time: '09:30:00Z',
  duration: 'PT1H',
  email: 'sample@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/sample',
  uuid: '00000000-0000-4000-8000-000000000000',
}

function sampleText(schema: Schema): string {
  const format = typeof schema.format === 'string' ? schema.format : ''
  const text = Object.hasOwn(formats, format) ? (formats[format] ?? '') : 'sample'
  const minLength = Math.min(numberOf(schema.minLength) ?? 0, maxTextLength)
  return text.padEnd(minLength, 'x').slice(0, numberOf(schema.maxLength) ?? maxTextLength)
}

function sampleNumber(schema: Schema, type: 'integer' | 'number'): number {
  const step = Math.abs(numberOf(schema.multipleOf) ?? 1) || 1
  const above = numberOf(schema.exclusiveMinimum)
  const below = numberOf(schema.exclusiveMaximum)
  const minimum = numberOf(schema.minimum) ?? (above === undefined ? undefined : above + step / 2)
  const maximum = numberOf(schema.maximum) ?? (below === undefined ? undefined : below - step / 2)
  const start = minimum ?? Math.min(1, maximum ?? 1)
  const rounded = (minimum === undefined ? Math.floor : Math.ceil)(start / step) * step
  // Between bounds closer than a step, only a number of its own fits.
  if (type === 'number' && maximum !== undefined && rounded > maximum) return (start + maximum) / 2
  return rounded
}

/** The schema behind a local reference such as `#/$defs/Place`. */
function resolve(root: Schema, reference: unknown): Schema {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return {}
  let node: unknown = root
  for (const step of reference.slice(1).split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    node = isSchema(node) && Object.hasOwn(node, name) ? node[name] : undefined
  }
  return isSchema(node) ? node : {}
}

/** `allOf` as one schema: properties and required names together, else the last word counts. */
function mergeSchemas(schemas: readonly Schema[]): Schema {
  const properties = schemas.map(({ properties }) => (isSchema(properties) ? properties : {}))
  const required = schemas.flatMap(({ required }) => toList(required))
  return {
    ...Object.assign({}, ...schemas),
    ...(properties.some((each) => Object.keys(each).length > 0)
      ? { properties: Object.assign({}, ...properties) }
      : {}),
    ...(required.length > 0 ? { required } : {}),
  }
}

function typeOf(schema: Schema): string {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type]
  const type: unknown = types.find((each) => each !== 'null') ?? types[0]
  if (typeof type === 'string') return type
  if (isSchema(schema.properties)) return 'object'
  return schema.items === undefined && schema.prefixItems === undefined ? 'string' : 'array'
}

/** One walk through a schema: where references start, and how many values were made. */
interface SampleContext {
  root: Schema
  values: number
}

function sampleObject(walk: SampleContext, schema: Schema, depth: number): Record<string, unknown> {
  const properties = isSchema(schema.properties) ? schema.properties : {}
  const required = toList(schema.required).filter((name) => typeof name === 'string')
  const names = schema.required === undefined ? Object.keys(properties) : required
  const entries = names.slice(0, maxValues).map((name) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : {}
    return [name, sampleValue(walk, property, depth)] as const
  })
  // From entries, so that a property named `__proto__` is just that.
  return Object.fromEntries(entries)
}

function sampleArray(walk: SampleContext, schema: Schema, depth: number): unknown[] {
  const first = toList(schema.prefixItems)
  const maximum = Math.min(numberOf(schema.maxItems) ?? maxItems, maxItems)
  const minLength = Math.max(numberOf(schema.minItems) ?? 1, first.length)
  const length = Math.max(0, Math.min(minLength, maximum))
  return Array.from({ length }, (_, index) =>
    sampleValue(walk, first[index] ?? schema.items, depth),
  )
}

function sampleOfType(walk: SampleContext, schema: Schema, depth: number): unknown {
  const type = typeOf(schema)
  switch (type) {
    case 'object':
      return sampleObject(walk, schema, depth)
    case 'array':
      return depth > deepest ? [] : sampleArray(walk, schema, depth)
    case 'integer':
    case 'number':
      return sampleNumber(schema, type)
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return sampleText(schema)
  }
}

/** The schema that a reference, a conjunction or a choice comes down to; undefined for a plain one. */
function resolveSchema(walk: SampleContext, schema: Schema): Schema | undefined {
  if (schema.$ref !== undefined) return resolve(walk.root, schema.$ref)
  if (Array.isArray(schema.allOf)) {
    const { allOf, ...own } = schema
    return mergeSchemas([own, ...toList(allOf).filter(isSchema)])
  }
  const choices = [...toList(schema.anyOf), ...toList(schema.oneOf)].filter(isSchema)
  return choices.find(({ type }) => type !== 'null') ?? choices[0]
}

function sampleValue(walk: SampleContext, schema: unknown, depth: number): unknown {
  walk.values += 1
  if (!isSchema(schema)) return 'sample'
  for (const knownValue of [schema.const, schema.default])
    if (knownValue !== undefined) return knownValue
  for (const [knownValue] of [toList(schema.enum), toList(schema.examples)]) {
    if (knownValue !== undefined) return knownValue
  }
  if (depth > deepest || walk.values > maxValues) {
    return sampleOfType(walk, { type: schema.type }, depth + 1)
  }
  const other = resolveSchema(walk, schema)
  return other ? sampleValue(walk, other, depth + 1) : sampleOfType(walk, schema, depth + 1)
}

/**
 * A value that fits a JSON schema, always the same one: constants, defaults and first choices, else
 * plain samples; the required properties of an object, or all where none are named. `pattern`, `not`
 * and remote references are not heeded. Below eight levels and beyond a thousand values it gets empty.
 */
export const sample = (schema: unknown): unknown =>
  sampleValue({ root: isSchema(schema) ? schema : {}, values: 0 }, schema, 0)
