import { wholeNumber } from './number'
import type { Asked, Option } from './verb'

interface Page<Row> {
  rows: readonly Row[]
  pagination: { total: number; next_cursor: string | null }
}

/** Options of every list. */
export const pageOptions = {
  search: { value: 'text', about: 'only rows that contain this text' },
  limit: { value: 'n', about: 'how many, 50 otherwise; "all" for all of them' },
} satisfies Record<string, Option>

const atOnce = 100

/** Reads as many rows of a list as requested, page by page, and returns them with the total. */
export async function rowsOf<Row>(
  asked: Asked,
  ask: (query: Record<string, string>) => Promise<Page<Row>>,
): Promise<{ rows: Row[]; total: number }> {
  const { value, progress } = asked
  const most = value('limit') === 'all' ? Infinity : (wholeNumber(asked, 'limit') ?? 50)
  const rows: Row[] = []
  const search = value('search')
  let cursor: string | null = ''
  let total = 0
  while (cursor !== null && rows.length < most) {
    const page: Page<Row> = await ask({
      limit: String(Math.min(atOnce, most - rows.length)),
      ...(cursor && { cursor }),
      ...(search && { search }),
    })
    rows.push(...page.rows)
    total = page.pagination.total
    cursor = page.pagination.next_cursor
    if (cursor !== null) progress(`${rows.length} of ${total}`)
  }
  return { rows, total }
}

/** Formats the line below a table that does not show all rows. */
export const rest = (shown: number, total: number) =>
  shown < total ? `${shown} of ${total}; --limit all for the rest.\n` : ''
