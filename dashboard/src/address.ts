const toText = (value: unknown) =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value

/**
 * Reads the search parameters that a page knows: texts by their names, and nothing where one is
 * empty. The router takes `7` and `true` of an address for values; here they are texts again.
 */
export const textsIn =
  <Name extends string>(...names: Name[]) =>
  (search: Record<string, unknown>) => {
    const found: { [Known in Name]?: string | undefined } = {}
    for (const name of names) {
      const value = toText(search[name])
      if (typeof value === 'string' && value !== '') found[name] = value
    }
    return found
  }

/** What a switch is in an address; without it the parameter is not there. */
export const yes = 'yes'

/**
 * The path that an address of this dashboard has; undefined for whatever leads elsewhere, also where
 * only a browser sees that: `//other.example`, or the same with a tab or a backslash in it.
 */
export function ownPath(address: string | null | undefined): string | undefined {
  if (!address?.startsWith('/')) return undefined
  const url = URL.parse(address, window.location.origin)
  if (url?.origin !== window.location.origin || url.pathname.startsWith('//')) return undefined
  return `${url.pathname}${url.search}${url.hash}`
}
