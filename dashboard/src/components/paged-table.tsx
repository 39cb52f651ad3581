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
  /** The width in pixels below which the table scrolls, in the wide layout. */
  minWidth: number
  /** The listed items, in the plural. */
  things: string
  /** The empty state. */
  empty: { title: string; text: ReactNode; action?: ReactNode }
  /** Whether filters may hide items. */
  isFiltered: boolean
  page: number
  onPage: (page: number) => void
  /** Renders a row with its key. */
  children: (item: Item) => ReactNode
}

/** A long list with pagination. */
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
    <Empty title="No results">No {things} match these filters on this page.</Empty>
  ) : (
    <Empty title={empty.title} action={empty.action}>
      {empty.text}
    </Empty>
  )
