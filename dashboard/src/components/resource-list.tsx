import { Stack, Text } from '@mantine/core'
import type { UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { rowsOnPage, type Rows } from '../api/paging'
import { Empty } from './empty'
import { Loaded } from './loaded'
import { Pages } from './pages'
import { QueryFailure } from './query-failure'
import { ShowMore } from './show-more'

interface Props<Data, Item> {
  query: UseQueryResult<Data> | UseInfiniteQueryResult<Data>
  /** Returns the loaded items and the total. */
  rows: (data: Data) => Rows<Item>
  /** The listed items, in the plural. */
  plural: string
  /** The empty state; a sentence where the list is a section of a page. */
  empty: string | { title: string; text: ReactNode; action?: ReactNode }
  /** Whether filters may hide items. */
  isFiltered?: boolean
  /** The action where filters hide all items. */
  unfilter?: ReactNode
  /** The page of a list with numbered pages, and its rows per page; other lists grow. */
  paging?: { page: number; onPage: (page: number) => void; size?: number }
  /** Renders the items; what else the query loaded, such as totals, is the second argument. */
  children: (items: readonly Item[], data: Data) => ReactNode
}

/** A list of one kind of resource: its items, its paging, and its empty, loading and error states. */
export const ResourceList = <Data, Item>({ query, rows, paging, ...props }: Props<Data, Item>) => (
  <Loaded query={query}>
    {(data) => {
      const { items, total } = rows(data)
      const { plural, children } = props
      return (
        <>
          {items.length === 0 ? (
            <NoItems {...props} isFiltered={props.isFiltered === true || (paging?.page ?? 1) > 1} />
          ) : (
            <Stack
              gap="sm"
              aria-busy={query.isPlaceholderData}
              opacity={query.isPlaceholderData ? 0.6 : 1}
            >
              {query.error && <QueryFailure error={query.error} refetch={query.refetch} />}
              {children(items, data)}
              {'fetchNextPage' in query && (
                <ShowMore loaded={items.length} total={total} plural={plural} query={query} />
              )}
            </Stack>
          )}
          {paging && (
            <Pages
              plural={plural}
              total={total}
              size={paging.size ?? rowsOnPage}
              page={paging.page}
              onChange={paging.onPage}
            />
          )}
        </>
      )
    }}
  </Loaded>
)

type NoItemsProps = Pick<Props<unknown, unknown>, 'empty' | 'isFiltered' | 'plural' | 'unfilter'>

function NoItems({ empty, isFiltered = false, plural, unfilter }: NoItemsProps) {
  const noMatch = `No ${plural} match these filters.`
  if (typeof empty === 'string') {
    return (
      <Text size="sm" c="dimmed">
        {isFiltered ? noMatch : empty}
      </Text>
    )
  }
  return isFiltered ? (
    <Empty title="No results" action={unfilter}>
      {noMatch}
    </Empty>
  ) : (
    <Empty title={empty.title} action={empty.action}>
      {empty.text}
    </Empty>
  )
}
