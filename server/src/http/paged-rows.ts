import { sql, type QueryExecutorProvider, type SelectQueryBuilder } from 'kysely'
import { toPaged, type Page } from './paging'

/** Options of a page: `column` is the name of the row's `id` in the tables of the query. */
interface PageQuery {
  page: Page
  column?: string
}

/** Reads a page of a query's rows, by descending `id`, with its `pagination`. */
export async function queryPage<Tables, Names extends keyof Tables, Row extends { id: string }>(
  db: QueryExecutorProvider,
  query: SelectQueryBuilder<Tables, Names, Row>,
  options: PageQuery,
) {
  const { total, rows } = await queryPageRows(db, query, options)
  return toPaged(options.page, total, rows)
}

/** Reads a page of a query's rows, by descending `id`, and one row more if there is one; and the number of all rows. */
export async function queryPageRows<Tables, Names extends keyof Tables, Row extends { id: string }>(
  db: QueryExecutorProvider,
  query: SelectQueryBuilder<Tables, Names, Row>,
  { page, column = 'id' }: PageQuery,
) {
  const id = sql.ref<string>(column)
  const [counts, rows] = await Promise.all([
    sql<{ total: bigint }>`select count(*) as total from (${query}) as listed`.execute(db),
    query
      .$if(page.before !== undefined, (all) =>
        all.where(sql<boolean>`${id} < ${page.before ?? ''}`),
      )
      .orderBy(id, 'desc')
      .limit(page.limit + 1)
      .offset(page.offset)
      .execute(),
  ])
  return { total: counts.rows[0]?.total ?? 0n, rows }
}

/** A row as the list shows it, with the id that its cursor names. */
interface AnsweredRow<Answer> {
  id: string
  answer: Answer
}

/** Prefix of cursors of rows in memory; no stored id begins with it. */
const inMemory = 'in memory '

/**
 * Reads a page of a query's rows followed by rows in memory, in their order. `toAnswer` shows a stored row; those
 * in memory are in their final form.
 */
export async function queryPageWithFixed<
  Tables,
  Names extends keyof Tables,
  Row extends { id: string },
  Answer extends { id: string },
>(
  db: QueryExecutorProvider,
  query: SelectQueryBuilder<Tables, Names, Row>,
  {
    page,
    fixed,
    toAnswer,
  }: { page: Page; fixed: readonly Answer[]; toAnswer: (row: Row) => Answer },
) {
  const behind = fixed.map((answer) => ({ id: `${inMemory}${answer.id}`, answer }))
  const isBehind = page.before?.startsWith(inMemory) ?? false
  // A cursor beyond the stored rows needs only their number.
  const stored = await queryPage(db, query, {
    page: isBehind ? { ...page, before: undefined, offset: 0, limit: 1 } : page,
  })
  const total = stored.pagination.total
  const rows: AnsweredRow<Answer>[] = isBehind
    ? behind.slice(behind.findIndex(({ id }) => id === page.before) + 1)
    : [
        ...stored.items.map((row) => ({ id: row.id, answer: toAnswer(row) })),
        ...(stored.pagination.has_more ? [] : behind.slice(Math.max(0, page.offset - total))),
      ]
  const paged = toPaged(page, BigInt(total + fixed.length), rows.slice(0, page.limit + 1))
  // At most a page of the stored rows was read.
  const hasMore = paged.pagination.has_more || (!isBehind && stored.pagination.has_more)
  const next = paged.pagination.next_cursor ?? (hasMore ? stored.pagination.next_cursor : null)
  return {
    items: paged.items.map(({ answer }) => answer),
    pagination: { ...paged.pagination, has_more: hasMore, next_cursor: next },
  }
}
