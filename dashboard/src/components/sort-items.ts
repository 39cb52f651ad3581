/** A value by which items are sorted; null for an unknown one. */
type SortedValue = string | number | null

interface Order<Name extends string> {
  by: Name
  isDescending: boolean
}

export type ValuesOf<Item, Name extends string> = Readonly<
  Record<Name, (item: Item) => SortedValue>
>

function compare(one: SortedValue, other: SortedValue, sign: 1 | -1): number {
  if (one === other) return 0
  if (one === null) return 1
  if (other === null) return -1
  if (typeof one === 'string' && typeof other === 'string') return sign * one.localeCompare(other)
  return one < other ? -sign : sign
}

/** Returns the items in an order; those without a value are last in both directions. */
export function sortItems<Item, Name extends string>(
  items: readonly Item[],
  values: ValuesOf<Item, Name>,
  { by, isDescending }: Order<Name>,
): Item[] {
  const valueOf = values[by]
  const sign = isDescending ? -1 : 1
  return items.toSorted((one, other) => compare(valueOf(one), valueOf(other), sign))
}
