/** The parts of a setting's schema that its input is made from. */
export interface SettingSchema {
  type?: string
  title?: string
  description?: string
  minimum?: number
  maximum?: number
  enum?: readonly string[]
  anyOf?: readonly SettingSchema[]
  items?: object
  properties?: Readonly<Record<string, SettingSchema>>
  'x-section'?: string
  'x-unit'?: string
}

type InputKind = 'switch' | 'number' | 'select' | 'tags' | 'text' | 'alternative'

/** A setting on the page: its path, its texts, and the kind of its input. */
export interface SettingField {
  path: string
  label: string
  about: string
  kind: InputKind
  isInteger: boolean
  /** `USD`, `percent` or `seconds`. */
  unit: string | undefined
  min: number | undefined
  max: number | undefined
  /** The values of a select, or of an alternative. */
  choices: readonly string[]
  /** The fields of the object that an alternative has in place of a choice. */
  parts: readonly SettingField[]
}

/** A card of the page. */
export interface Section {
  title: string
  fields: readonly SettingField[]
}

/** The card of settings whose rows name none. */
const lastSection = 'Other'

/** Returns the kind of input for a setting; undefined for one that only the API changes, such as another union of types. */
function kindOf({ type, enum: choices, anyOf = [] }: SettingSchema): InputKind | undefined {
  if (anyOf.some(isNamed) && anyOf.some(isObject)) return 'alternative'
  if (anyOf.some(isText) && anyOf.some(isNull)) return 'text'
  if (type === 'boolean') return 'switch'
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'string') return choices ? 'select' : 'text'
  return type === 'array' ? 'tags' : undefined
}

const isNamed = ({ enum: choices }: SettingSchema) => choices !== undefined
const isObject = ({ properties }: SettingSchema) => properties !== undefined
const isText = ({ type, enum: choices }: SettingSchema) => type === 'string' && !choices
const isNull = ({ type }: SettingSchema) => type === 'null'

function toField(path: string, schema: SettingSchema): SettingField[] {
  const kind = kindOf(schema)
  if (kind === undefined) return []
  const { title = path, description = '', minimum, maximum, anyOf = [] } = schema
  const { enum: choices = [] } = [schema, ...anyOf].find(isNamed) ?? {}
  const { properties = {} } = anyOf.find(isObject) ?? {}
  return [
    {
      path,
      label: title,
      // Descriptions are Markdown.
      about: description.replaceAll('`', ''),
      kind,
      isInteger: schema.type === 'integer',
      unit: schema['x-unit'],
      min: minimum,
      max: maximum,
      choices,
      parts: Object.entries(properties).flatMap(([name, part]) => toField(`${path}.${name}`, part)),
    },
  ]
}

/** Returns the cards of a schema's settings, in its order; the card of settings without a section is the last. */
export function toSections({ properties = {} }: SettingSchema): Section[] {
  const sections = new Map<string, SettingField[]>()
  for (const [name, schema] of Object.entries(properties)) {
    const grouped = Object.entries(schema.properties ?? {})
    const fields = schema.properties
      ? grouped.flatMap(([inner, one]) => toField(`${name}.${inner}`, one))
      : toField(name, schema)
    const title = schema['x-section'] ?? lastSection
    if (fields.length > 0) sections.set(title, [...(sections.get(title) ?? []), ...fields])
  }
  return [...sections]
    .map(([title, fields]) => ({ title, fields }))
    .toSorted((a, b) => Number(a.title === lastSection) - Number(b.title === lastSection))
}
