import { z } from 'zod'

/** The parts of a JSON Schema that descriptions are made from. */
export interface JsonSchema {
  $ref?: string
  description?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  examples?: unknown[]
  default?: unknown
  format?: string
  pattern?: string
  minimum?: number
  minItems?: number
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: JsonSchema | boolean
}

/** Components of a description by name. */
export type Components = Readonly<Record<string, JsonSchema>>

const bounds = new Set(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'])

/** Whether a keyword carries no information: every integer of JavaScript is below these bounds. */
const isVoid = (name: string, value: unknown) =>
  name === '$schema' ||
  (bounds.has(name) && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER) ||
  // An empty schema is the default.
  (name === 'additionalProperties' && JSON.stringify(value) === '{}')

/** The fallback of an invalid item of a bulk request is no part of its description; all else must have one. */
const unrepresentable = ({ zodSchema }: { zodSchema: z.core.$ZodType }) =>
  zodSchema._zod.def.type === 'catch' ? 'any' : 'throw'

/**
 * Converts schemas to JSON Schema. Those with a name, the `ref` of their `.meta()`, become components, which the others
 * refer to. Unlike the `id` of zod, a name is that of derived schemas too, such as a described one.
 */
export class SchemaConverter {
  readonly #components: Record<string, JsonSchema> = {}
  readonly #converted = new Map<z.ZodType, JsonSchema>()

  get components(): Record<string, JsonSchema> {
    return this.#components
  }

  /** Describes the values that a schema accepts, also those of an answer: its objects may get more fields. */
  toJsonSchema(schema: z.ZodType): JsonSchema {
    const cached = this.#converted.get(schema)
    if (cached) return cached
    const described = z.toJSONSchema(schema, { io: 'input', unrepresentable })
    const json = JSON.stringify(described, (name, value: unknown) =>
      isVoid(name, value) ? undefined : value,
    )
    const converted = this.#extract(JSON.parse(json))
    this.#converted.set(schema, converted)
    return converted
  }

  /** Moves the named parts of a schema to the components. */
  #extract(schema: JsonSchema & { ref?: string }): JsonSchema {
    const { ref, ...plain } = schema
    const extract = (one: JsonSchema) => this.#extract(one)
    const { items, properties, additionalProperties, anyOf, oneOf, allOf } = plain
    const extracted: JsonSchema = {
      ...plain,
      ...(items && { items: extract(items) }),
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, field]) => [name, extract(field)]),
        ),
      }),
      ...(typeof additionalProperties === 'object' && {
        additionalProperties: extract(additionalProperties),
      }),
      ...(anyOf && { anyOf: anyOf.map(extract) }),
      ...(oneOf && { oneOf: oneOf.map(extract) }),
      ...(allOf && { allOf: allOf.map(extract) }),
    }
    if (ref === undefined) return extracted
    this.#components[ref] = extracted
    return { $ref: `${prefix}${ref}` }
  }

  /** Returns the component that a schema refers to, or itself. */
  resolve(schema: JsonSchema): JsonSchema {
    const { $ref } = schema
    return $ref === undefined ? schema : (this.#components[nameOf($ref)] ?? {})
  }
}

const prefix = '#/components/schemas/'

/** Returns the name of the component that a reference leads to. */
const nameOf = ($ref: string) => $ref.slice(prefix.length)
