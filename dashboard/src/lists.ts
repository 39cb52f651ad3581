import { present } from './search'

/** Rows of a list that is shown by pages. */
export const rowsOnPage = 25

/** One page of a list, whatever it is of. */
export interface Rows<Item> {
  items: readonly Item[]
  total: number
}

/** Asks for a page of a list, with its filters. */
export const pageQuery = (filter: Readonly<Record<string, string | undefined>>, page = 1) => ({
  query: present({
    ...filter,
    limit: String(rowsOnPage),
    offset: String((page - 1) * rowsOnPage),
  }),
})
