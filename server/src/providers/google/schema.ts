import { isObject, type JsonObject } from '../../wire/json-body'

/** Keys that hold one schema, or a list of them. */
const schemas = new Set([
  'items',
  'prefixItems',
  'additionalProperties',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
])
/** Keys that hold schemas by name; the names are the caller's and may be any word. */
const namedFields = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
])

/** A schema for answers in JSON: Google knows `const` only as an `enum` of one. */
export function withoutConst(schema: JsonObject): JsonObject {
  const copy: JsonObject = {}
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'const') copy['enum'] = [value]
    else if (schemas.has(key)) copy[key] = toGoogleSchema(value)
    else if (namedFields.has(key) && isObject(value)) copy[key] = inNamed(value)
    else copy[key] = value
  }
  return copy
}

function toGoogleSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toGoogleSchema)
  return isObject(value) ? withoutConst(value) : value
}

const inNamed = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, toGoogleSchema(schema)]))
