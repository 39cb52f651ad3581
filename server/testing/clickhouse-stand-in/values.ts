import { ClickHouseException } from './exception'

const unescapes: Readonly<Record<string, string>> = {
  '\\': '\\',
  t: '\t',
  n: '\n',
  r: '\r',
  '0': '\0',
  "'": "'",
}

function badParameter(name: string, type: string): ClickHouseException {
  const message = `Value cannot be parsed as ${type} for query parameter '${name}' because it isn't parsed completely`
  return new ClickHouseException(457, 'BAD_QUERY_PARAMETER', message)
}

/** Reads the escaped form in which a parameter is sent; undefined for a character that ends the field. */
function unescape(text: string): string | undefined {
  if (/[\t\n]/.test(text)) return undefined
  return text.replaceAll(/\\(.)/g, (_all, character: string) => unescapes[character] ?? character)
}

function toArray(text: string): string[] | undefined {
  const item = /'((?:[^'\\]|\\.)*)'/y
  const items: string[] = []
  if (!text.startsWith('[') || !text.endsWith(']')) return undefined
  for (let at = 1; at < text.length - 1;) {
    item.lastIndex = at
    const [all, quoted = ''] = item.exec(text) ?? []
    if (all === undefined) return undefined
    items.push(unescape(quoted) ?? '')
    at += all.length
    if (text[at] === ',') at += 1
    else if (at < text.length - 1) return undefined
  }
  return items
}

/** The value of a parameter; times are milliseconds since the epoch. */
export type StandInValue = string | number | string[]

/** Parses a parameter as its type in the statement says. */
export function parseParameter(name: string, type: string, sent: string): StandInValue {
  // The elements of an array have escapes of their own, and no further ones are around it.
  const text = type.startsWith('Array') ? sent : unescape(sent)
  if (text === undefined) throw badParameter(name, type)
  const parsed = parseAs(type, text)
  if (parsed === undefined) throw badParameter(name, type)
  return parsed
}

function parseAs(type: string, text: string): StandInValue | undefined {
  switch (type) {
    case 'String':
      return text
    case 'UInt32':
      return /^\d{1,10}$/.test(text) && Number(text) < 2 ** 32 ? Number(text) : undefined
    case 'Int32':
      return /^-?\d{1,10}$/.test(text) && Math.abs(Number(text)) < 2 ** 31
        ? Number(text)
        : undefined
    case "DateTime64(3, 'UTC')":
      return parseTime(text)
    case 'Array(String)':
      return toArray(text)
    default:
      throw new ClickHouseException(50, 'UNKNOWN_TYPE', `Unknown data type family: ${type}`)
  }
}

/** Parses a time in UTC to milliseconds since the epoch. */
export function parseTime(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,3})?$/.test(text)) return undefined
  return Date.parse(`${text.replace(' ', 'T')}Z`)
}

const integerTypes = /^(U?Int(16|32|64))$/

const isText = (value: unknown) => typeof value === 'string'

/** Parses the value of a column in a row of JSON; undefined where it has another type. */
export function parseColumn(type: string, value: unknown): unknown {
  const plain = type.replace(/ CODEC\(.*$/, '').replace(/^LowCardinality\((.*)\)$/, '$1')
  const [, inner] = /^Nullable\((.*)\)$/.exec(plain) ?? []
  if (value === null) return inner === undefined ? undefined : null
  const base = inner ?? plain
  if (base === "DateTime64(3, 'UTC')") return isText(value) ? parseTime(value) : undefined
  return hasType(base, value) ? value : undefined
}

function hasType(type: string, value: unknown): boolean {
  if (type === 'String') return isText(value)
  if (type === 'Bool') return typeof value === 'boolean'
  if (type === 'Array(String)') return Array.isArray(value) && value.every(isText)
  return integerTypes.test(type) && typeof value === 'bigint'
}

/** Writes a value of a column as JSON has it: integers of 64 bits as text, where the setting says so. */
export function toJson(type: string, value: unknown): unknown {
  if (typeof value !== 'bigint') return value
  return /Int64/.test(type) ? String(value) : Number(value)
}
