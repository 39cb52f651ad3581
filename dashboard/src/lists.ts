import { present } from './search'

/** The number of rows per page. */
export const rowsOnPage = 25

/** One page of a list. */
export interface Rows<Item> {
  items: readonly Item[]
  total: number
}

/** The query of one page of a list, with its filters. */
export const pageQuery = (filter: Readonly<Record<string, string | undefined>>, page = 1) => ({
  query: present({
    ...filter,
    limit: String(rowsOnPage),
    offset: String((page - 1) * rowsOnPage),
  }),
})
