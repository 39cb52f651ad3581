/** What stands behind the question mark of an address, as the router has parsed it. */
export type Search = Record<string, unknown>

/** A text of it; a number that somebody searched for is a text too. */
export function textOf(search: Search, name: string): string | undefined {
  const value = search[name]
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** One of the values that are known. */
export const oneOf = <Value extends string>(
  search: Search,
  name: string,
  values: readonly Value[],
): Value | undefined => values.find((value) => value === search[name])

/** A whole number, 0 or more. */
export function wholeOf(search: Search, name: string): number | undefined {
  const value = search[name]
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** The page of a list, from 2 on; the first one is not said. */
export function pageOf(search: Search): number | undefined {
  const page = wholeOf(search, 'page')
  return page !== undefined && page > 1 && page < 10_000 ? page : undefined
}

/** Texts that are there, as an address or a request takes them. */
export const present = (fields: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
