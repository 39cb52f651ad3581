import { isObject, type JsonObject, toList } from '../../wire/json-body'

/** Keywords that travel on as they are. */
const supportedKeywords = new Set(
  'type required enum const $ref title default description additionalProperties'.split(' '),
)
const silent = new Set(['$schema', '$id', '$comment'])
const formats = new Set('date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '))

/** Keywords that hold schemas. */
const ofSchemas: ReadonlyMap<string, (value: unknown) => unknown> = new Map(
  Object.entries({
    properties: toStrictProperties,
    $defs: toStrictProperties,
    definitions: toStrictProperties,
    items: toStrictSchema,
    anyOf: toStrictList,
    allOf: toStrictList,
  }),
)

/**
 * Returns a JSON schema with the keywords that structured outputs support. Others, such as `minimum`, move
 * into the description, where the model can read them; objects have no further properties.
 * @see https://docs.claude.com/en/docs/build-with-claude/structured-outputs
 */
export function toStrictSchema(schema: unknown): unknown {
  if (!isObject(schema)) return schema
  const { oneOf, ...rest } = schema
  const strict: JsonObject = {}
  const hints: string[] = []
  for (const [name, value] of Object.entries(rest)) {
    const translate = ofSchemas.get(name)
    if (translate) strict[name] = translate(value)
    else if (supportedKeywords.has(name) || isSupported(name, value)) strict[name] = value
    else if (!silent.has(name)) hints.push(`${name}: ${JSON.stringify(value)}`)
  }
  if (oneOf !== undefined) strict['anyOf'] = [...toList(strict['anyOf']), ...toStrictList(oneOf)]
  if (isOfObjects(schema)) strict['additionalProperties'] = false
  if (hints.length > 0) {
    const before = typeof schema['description'] === 'string' ? [schema['description']] : []
    strict['description'] = [...before, `(${hints.join(', ')})`].join(' ')
  }
  return strict
}

function toStrictList(schemas: unknown): unknown[] {
  return toList(schemas).map(toStrictSchema)
}

function toStrictProperties(schemas: unknown): JsonObject {
  const entries = isObject(schemas) ? Object.entries(schemas) : []
  return Object.fromEntries(entries.map(([name, subschema]) => [name, toStrictSchema(subschema)]))
}

function isSupported(name: string, value: unknown): boolean {
  if (name === 'format') return typeof value === 'string' && formats.has(value)
  return name === 'minItems' && (value === 0 || value === 1)
}

function isOfObjects({ type, properties }: JsonObject): boolean {
  const types: unknown[] = Array.isArray(type) ? type : [type]
  return types.includes('object') || isObject(properties)
}
