/** The search parameters of an address, as the router parsed them. */
export type Search = Record<string, unknown>

/** Reads a text; a numeric search is a text as well. */
export function textOf(search: Search, name: string): string | undefined {
  const value = search[name]
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Reads one of the known values. */
export const oneOf = <Value extends string>(
  search: Search,
  name: string,
  values: readonly Value[],
): Value | undefined => values.find((value) => value === search[name])

/** Reads a whole number, 0 or more. */
export function integerOf(search: Search, name: string): number | undefined {
  const value = search[name]
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** Reads the page of a list, from 2 on; the first page is absent. */
export function pageOf(search: Search): number | undefined {
  const page = integerOf(search, 'page')
  return page !== undefined && page > 1 && page < 10_000 ? page : undefined
}

/** Removes absent values, for an address. */
export const present = <Value>(fields: Readonly<Record<string, Value | undefined>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** Returns the query of an address, with the parameters that have a value. */
export const toQuery = (fields: Readonly<Record<string, string | undefined>>): URLSearchParams =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
