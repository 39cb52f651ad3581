const isGroup = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a form has a field, by its dotted path; a group of fields shows no error. */
export function hasField(values: object, path: string): boolean {
  if (path in values) return !isGroup(Reflect.get(values, path))
  let value: unknown = values
  for (const name of path.split('.')) {
    if (!isGroup(value) || !Object.hasOwn(value, name)) return false
    value = Reflect.get(value, name)
  }
  return !isGroup(value)
}
