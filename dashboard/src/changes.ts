/** Returns the changed fields of a form in the shape the service expects: empty fields become null. */
export function changesOf(fields: object, before: object): object {
  const changed = Object.entries(fields).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(Reflect.get(before, name)),
  )
  return Object.fromEntries(changed.map(([name, value]) => [name, value === '' ? null : value]))
}
