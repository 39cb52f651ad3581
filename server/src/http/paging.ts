import { createHash } from 'node:crypto'
import { z } from 'zod'
import { invalidRequest } from '../errors'

const pageSize = z.coerce.number().int().min(1).max(100)

/** The query parameters of a paged list. Source: contract 1.6. */
export const pageFields = {
  limit: pageSize.default(50).describe('Maximum number of items on the page'),
  offset: z.coerce
    .number()
    .int()
    .min(0)
    .max(10_000)
    .default(0)
    .describe('Number of items to skip; ignored with `cursor`'),
  // The id of a model has at most 256 characters.
  cursor: z
    .string()
    .max(500)
    .optional()
    .describe('`next_cursor` of the previous page, with the same filters'),
}

/** The query parameters of a list that has all of its items on one page where the client sets no `limit`. */
export const pageFieldsUpTo = (limit: number) => ({
  ...pageFields,
  limit: pageSize.default(limit).describe('Maximum number of items on the page'),
})

/** The part of a query that names a page. */
type PageQuery = z.output<z.ZodObject<typeof pageFields>>

/** The pagination of a list. */
export const Pagination = z
  .object({
    total: z.int().describe('Number of items on all pages'),
    limit: z.int(),
    offset: z.int(),
    has_more: z.boolean(),
    next_cursor: z.string().nullable().describe('The `cursor` of the next page'),
  })
  .meta({ ref: 'Pagination' })

/** The requested part of a list. Rows are ordered by descending id, which is newest first. */
export interface Page {
  limit: number
  offset: number
  /** Only rows with a lower id; then `offset` is 0. */
  before: string | undefined
  /** Binds cursors to the list that they were created for. */
  scope: string
}

const seal = (id: string, scope: string) =>
  createHash('sha256').update(`${scope}\n${id}`).digest('base64url').slice(0, 16)

/** Returns the page that a query names; `scope` is a text of account and filters. Throws `invalid_request`. */
export function toPage({ limit, offset, cursor }: PageQuery, scope: string): Page {
  if (cursor === undefined) return { limit, offset, before: undefined, scope }
  const [id = '', mark] = Buffer.from(cursor, 'base64url').toString('utf8').split('\n')
  if (mark !== seal(id, scope) || id.includes(String.fromCharCode(0))) {
    throw invalidRequest('cursor', 'bad_format', 'cursor: not a cursor of this list.')
  }
  return { limit, offset: 0, before: id, scope }
}

/**
 * Returns the rows of a page and its `pagination`, from one row more than the page has, so that `has_more` needs
 * no second query.
 */
export function toPaged<Row extends { id: string }>(
  page: Page,
  total: bigint,
  rows: readonly Row[],
) {
  const { limit, offset, scope } = page
  const items = rows.slice(0, limit)
  const hasMore = rows.length > items.length
  const lastId = items.at(-1)?.id
  const next =
    hasMore && lastId !== undefined
      ? Buffer.from(`${lastId}\n${seal(lastId, scope)}`).toString('base64url')
      : null
  const pagination = {
    total: Number(total),
    limit,
    offset,
    has_more: hasMore,
    next_cursor: next,
  }
  return { items, pagination }
}

/**
 * Returns a page of rows in memory, in their order: the counterpart of `queryPage`. `behind` selects the rows
 * after the one that a cursor names, which may have been deleted.
 */
export function pageList<Row extends { id: string }>(
  page: Page,
  rows: readonly Row[],
  behind: (before: string) => readonly Row[],
) {
  const { before, offset, limit } = page
  const remaining = before === undefined ? rows.slice(offset) : behind(before)
  return toPaged(page, BigInt(rows.length), remaining.slice(0, limit + 1))
}

/** Escapes a text for `like`, so that its wildcards are literal. */
export const containing = (search: string) => `%${search.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
