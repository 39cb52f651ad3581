/** A value of a parameter `{name:Type}`. */
export type ParameterValue = string | number | Date | readonly string[]

/** The parameters of a statement by their names. */
export type Parameters = Readonly<Record<string, ParameterValue>>

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\\0',
}

/** Escapes as ClickHouse reads the values of parameters: as fields of tab-separated text. */
const escape = (text: string) =>
  Array.from(text, (character) => escapes[character] ?? character).join('')

/** Quotes an element of an array, which has no further escapes around it. */
const quote = (text: string) => `'${escape(text).replaceAll("'", String.raw`\'`)}'`

/** Formats a time for `DateTime64(3, 'UTC')`. */
export const toClickHouseTime = (time: Date): string =>
  time.toISOString().replace('T', ' ').replace('Z', '')

function format(value: ParameterValue): string {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return escape(value)
  if (value instanceof Date) return toClickHouseTime(value)
  return `[${value.map(quote).join(',')}]`
}

/** Returns the query parameters of the URL that carry the parameters of a statement. */
export const toUrlParameters = (parameters: Parameters): [string, string][] =>
  Object.entries(parameters).map(([name, value]) => [`param_${name}`, format(value)])
