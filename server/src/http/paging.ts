import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import { z } from 'zod'
import type { Env } from './env'
import { invalidRequest } from '../errors'
import { check } from '../wire/json-body'

const Query = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  offset: z.coerce.number().int().min(0).max(10_000).default(0),
  // The id of a model has 256 characters at most.
  cursor: z.string().max(500).optional(),
})

/** Which part of a list is wanted. Rows are ordered by falling id, which is newest first. */
export interface Page {
  limit: number
  offset: number
  /** Only rows with a lower id; then `offset` is 0. */
  before: string | undefined
  /** Binds cursors to the list that they were made for. */
  scope: string
}

const seal = (id: string, scope: string) =>
  createHash('sha256').update(`${scope}\n${id}`).digest('base64url').slice(0, 16)

/** A page of `scope`, a text of account and filters. Throws `invalid_request`. */
export function toPage(c: Context<Env>, scope: string): Page {
  const { limit, offset, cursor } = check(Query, c.req.query())
  if (cursor === undefined) return { limit, offset, before: undefined, scope }
  const [id = '', mark] = Buffer.from(cursor, 'base64url').toString('utf8').split('\n')
  if (mark !== seal(id, scope) || id.includes(String.fromCharCode(0))) {
    throw invalidRequest('cursor', 'bad_format', 'cursor: is not one of this list.')
  }
  return { limit, offset: 0, before: id, scope }
}

/**
 * The rows of a page and its `pagination`, out of one row more than was asked for, so that there is
 * more is known without asking twice.
 */
export function toPaged<Row extends { id: string }>(
  page: Page,
  total: bigint,
  rows: readonly Row[],
) {
  const { limit, offset, scope } = page
  const shown = rows.slice(0, limit)
  const hasMore = rows.length > shown.length
  const lastId = shown.at(-1)?.id
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
  return { shown, pagination }
}

/**
 * A page of rows that are in memory, in their order: what `pagedRows` is for those of a query. `behind`
 * says which come behind the one that a cursor names, which may be gone.
 */
export function pageList<Row extends { id: string }>(
  page: Page,
  rows: readonly Row[],
  behind: (before: string) => readonly Row[],
) {
  const { before, offset, limit } = page
  const rest = before === undefined ? rows.slice(offset) : behind(before)
  return toPaged(page, BigInt(rows.length), rest.slice(0, limit + 1))
}

/** A text for `like`, with its own wildcards taken literally. */
export const containing = (search: string) => `%${search.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`

/** A filter that is a text to search for. Throws `invalid_request` for what no text of ours holds. */
export function toSearch(c: Context<Env>): string | undefined {
  const search = c.req.query('search')?.trim().slice(0, 100)
  if (search?.includes(String.fromCharCode(0))) {
    throw invalidRequest('search', 'bad_format', 'search: holds a zero character.')
  }
  return search || undefined
}
