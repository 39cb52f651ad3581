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
