const toText = (value: unknown) =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value

/**
 * Reads the known search parameters of a page as texts and drops empty ones. The router parses `7` and
 * `true` in an address into values; here they are texts again.
 */
export const textsIn =
  <Name extends string>(...names: Name[]) =>
  (search: Record<string, unknown>) => {
    const values: { [Known in Name]?: string | undefined } = {}
    for (const name of names) {
      const value = toText(search[name])
      if (typeof value === 'string' && value !== '') values[name] = value
    }
    return values
  }

/** The value of a switch in an address; when the switch is off the parameter is absent. */
export const yes = 'yes'

/**
 * Returns the path of an address within this dashboard, or undefined when it leads elsewhere, including
 * forms that only a browser resolves: `//other.example`, or the same with a tab or a backslash in it.
 */
export function ownPath(address: string | null | undefined): string | undefined {
  if (!address?.startsWith('/')) return undefined
  const url = URL.parse(address, window.location.origin)
  if (url?.origin !== window.location.origin || url.pathname.startsWith('//')) return undefined
  return `${url.pathname}${url.search}${url.hash}`
}
