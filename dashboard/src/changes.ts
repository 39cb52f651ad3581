/** What of a form's fields is new, as the service takes it: what is empty is null. */
export function changesOf(fields: object, before: object): object {
  const changed = Object.entries(fields).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(Reflect.get(before, name)),
  )
  return Object.fromEntries(changed.map(([name, value]) => [name, value === '' ? null : value]))
}
