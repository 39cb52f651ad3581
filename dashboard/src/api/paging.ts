/** The number of rows per page. */
export const rowsOnPage = 25

/** One page of a list. */
export interface Rows<Item> {
  items: readonly Item[]
  total: number
}

/** Returns the rows of a list without pages. */
export const allRows = <Item>(items: readonly Item[]): Rows<Item> => ({
  items,
  total: items.length,
})

interface Page {
  pagination: { total: number }
}

/** Joins the loaded pages of a list that grows. */
export const toRows = <Part extends Page, Item>(
  pages: readonly Part[],
  itemsOf: (page: Part) => readonly Item[],
): Rows<Item> => ({ items: pages.flatMap(itemsOf), total: pages[0]?.pagination.total ?? 0 })

/** The parameters of one page of a list, with its filters. */
export const pageQuery = <Filter extends object>(filter: Filter, page = 1) => ({
  ...filter,
  limit: rowsOnPage,
  offset: (page - 1) * rowsOnPage,
})

/** The position after which a page starts; the first page starts at the newest row. */
export interface Position {
  cursor?: string | undefined
}
export const firstPosition: Position = {}

/** Returns the position of the next page; undefined after the last. */
export const toNextPosition = ({
  pagination: { next_cursor: cursor },
}: {
  pagination: { next_cursor: string | null }
}): Position | undefined => (cursor === null ? undefined : { cursor })
