import { sql, type QueryExecutorProvider, type SelectQueryBuilder } from 'kysely'
import { toPaged, type Page } from './paging'

/** What a list shows of a query: `column` is what its `id` is called in the tables it reads. */
interface Wanted {
  page: Page
  column?: string
}

/** A page of a query's rows, by falling `id`, and the `pagination` that goes with it. */
export async function queryPage<Tables, Names extends keyof Tables, Row extends { id: string }>(
  db: QueryExecutorProvider,
  query: SelectQueryBuilder<Tables, Names, Row>,
  { page, column = 'id' }: Wanted,
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
  return toPaged(page, counts.rows[0]?.total ?? 0n, rows)
}

/** A row as a list shows it, by the id that its cursor names. */
interface Shown<Answer> {
  id: string
  answer: Answer
}

/** Cursors of rows in memory begin so: no id of a stored row does. */
const inMemory = 'in memory '

/**
 * A page of a query's rows and, behind all of them, of rows in memory, in their order. `toAnswer` shows a stored row;
 * those in memory are answers already.
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
  // A cursor behind the stored rows has none of them; only their number is wanted.
  const stored = await queryPage(db, query, {
    page: isBehind ? { ...page, before: undefined, offset: 0, limit: 1 } : page,
  })
  const total = stored.pagination.total
  const rows: Shown<Answer>[] = isBehind
    ? behind.slice(behind.findIndex(({ id }) => id === page.before) + 1)
    : [
        ...stored.shown.map((row) => ({ id: row.id, answer: toAnswer(row) })),
        ...(stored.pagination.has_more ? [] : behind.slice(Math.max(0, page.offset - total))),
      ]
  const paged = toPaged(page, BigInt(total + fixed.length), rows.slice(0, page.limit + 1))
  // Of the stored rows no more than the page's were read.
  const hasMore = paged.pagination.has_more || (!isBehind && stored.pagination.has_more)
  const next = paged.pagination.next_cursor ?? (hasMore ? stored.pagination.next_cursor : null)
  return {
    shown: paged.shown.map(({ answer }) => answer),
    pagination: { ...paged.pagination, has_more: hasMore, next_cursor: next },
  }
}
