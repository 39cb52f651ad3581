import { parseInteger } from './number'
import type { Invocation, Option } from './verb'

interface Page<Row> {
  rows: readonly Row[]
  pagination: { total: number; next_cursor: string | null }
}

interface PageQuery {
  limit: number
  cursor: string | undefined
  search: string | undefined
}

/** Options of every list. */
export const pageOptions = {
  search: { value: 'text', about: 'only rows that contain this text' },
  limit: { value: 'n', about: 'how many, 50 otherwise; "all" for all of them' },
} satisfies Record<string, Option>

const maxPageSize = 100

/** Reads as many rows of a list as requested, page by page, and returns them with the total. */
export async function rowsOf<Row>(
  invocation: Invocation,
  fetchPage: (query: PageQuery) => Promise<Page<Row>>,
): Promise<{ rows: Row[]; total: number }> {
  const { value, progress } = invocation
  const max = value('limit') === 'all' ? Infinity : (parseInteger(invocation, 'limit') ?? 50)
  const rows: Row[] = []
  let cursor: string | null = ''
  let total = 0
  while (cursor !== null && rows.length < max) {
    const page: Page<Row> = await fetchPage({
      limit: Math.min(maxPageSize, max - rows.length),
      cursor: cursor || undefined,
      search: value('search') || undefined,
    })
    rows.push(...page.rows)
    total = page.pagination.total
    cursor = page.pagination.next_cursor
    if (cursor !== null) progress(`${rows.length} of ${total}`)
  }
  return { rows, total }
}

/** Formats the line below a table that does not show all rows. */
export const formatRemainder = (count: number, total: number) =>
  count < total ? `${count} of ${total}; --limit all for the rest.\n` : ''
