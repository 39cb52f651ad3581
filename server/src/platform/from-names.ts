/** Makes an object with a value for each of the names. */
export const fromNames = <Name extends string, Value>(
  names: readonly Name[],
  toValue: (name: Name) => Value,
) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each name is there, which the type of `fromEntries` does not know
  Object.fromEntries(names.map((name) => [name, toValue(name)])) as Record<Name, Value>

/** Lists the names of an object's fields; for constants, whose type has all of them. */
export function namesOf<Fields extends object>(fields: Fields): (keyof Fields & string)[] {
  const names: (keyof Fields & string)[] = []
  for (const name in fields) names.push(name)
  return names
}
