import { useState } from 'react'
import type { SortOrder } from './list-table'
import { sortItems, type ValuesOf } from './sort-items'

/** Sorts a list that is loaded as a whole by the columns of its table. Columns name the values as their `sort`. */
export function useSorted<Item, Name extends string>(
  items: readonly Item[],
  values: ValuesOf<Item, Name>,
  initial: NoInfer<Name>,
) {
  const [order, setOrder] = useState<{ by: Name; isDescending: boolean }>({
    by: initial,
    isDescending: false,
  })
  const isName = (by: string): by is Name => by in values
  const onSort = ({ by, isDescending }: SortOrder) => {
    if (isName(by)) setOrder({ by, isDescending })
  }
  return { sorted: sortItems(items, values, order), sorting: { order, onSort } }
}
