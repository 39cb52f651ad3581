import { sql, type QueryExecutorProvider, type SelectQueryBuilder } from 'kysely'
import { toPaged, type Page } from './paging'

/** What a list shows of a query: `column` is what its `id` is called in the tables it reads. */
interface Wanted {
  page: Page
  column?: string
}

/** A page of a query's rows, by falling `id`, and the `pagination` that goes with it. */
export async function pagedRows<Tables, Names extends keyof Tables, Row extends { id: string }>(
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
