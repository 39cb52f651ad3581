import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Empty } from './empty'
import { ListTable, type Columns } from './list-table'
import { Loaded } from './loaded'
import { Pages } from './pages'
import { rowsOnPage, type Rows } from '../lists'

interface Props<Item> {
  query: UseQueryResult<Rows<Item>>
  columns: Columns
  /** Pixels below which the table is scrolled, as long as it is one. */
  minWidth: number
  /** What is listed, in the plural. */
  things: string
  /** What stands there while there is none: what would be, and how it comes. */
  empty: { title: string; text: ReactNode; action?: ReactNode }
  /** Whether there may be others, without the filters. */
  isFiltered: boolean
  page: number
  onPage: (page: number) => void
  /** A row, with its key. */
  children: (item: Item) => ReactNode
}

/** A long list, page by page. */
export const PagedTable = <Item,>({ query, page, onPage, things, ...shown }: Props<Item>) => (
  <Loaded query={query}>
    {({ items, total }) => (
      <>
        {items.length > 0 ? (
          <ListTable columns={shown.columns} minWidth={shown.minWidth}>
            {items.map(shown.children)}
          </ListTable>
        ) : (
          <Nothing {...shown} isFiltered={shown.isFiltered || page > 1} things={things} />
        )}
        <Pages things={things} total={total} size={rowsOnPage} page={page} onChange={onPage} />
      </>
    )}
  </Loaded>
)

type NothingProps = Pick<Props<unknown>, 'empty' | 'isFiltered' | 'things'>

const Nothing = ({ empty, isFiltered, things }: NothingProps) =>
  isFiltered ? (
    <Empty title="Nothing fits">No {things} fit these filters, or this page.</Empty>
  ) : (
    <Empty title={empty.title} action={empty.action}>
      {empty.text}
    </Empty>
  )
