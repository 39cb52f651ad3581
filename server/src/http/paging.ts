import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import { z } from 'zod'
import type { Env } from './env'
import { invalidRequest } from '../errors'
import { check } from '../wire/json-body'

const Query = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  offset: z.coerce.number().int().min(0).max(10_000).default(0),
  // The id of a model has at most 256 characters.
  cursor: z.string().max(500).optional(),
})

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

/** Reads the page of a request; `scope` is a text of account and filters. Throws `invalid_request`. */
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
 * Returns the rows of a page and its `pagination`, from one row more than the page has, so that `has_more` needs
 * no second query.
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
 * Returns a page of rows in memory, in their order: the counterpart of `queryPage`. `behind` selects the rows
 * after the one that a cursor names, which may have been deleted.
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

/** Escapes a text for `like`, so that its wildcards are literal. */
export const containing = (search: string) => `%${search.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`

/** Reads the search filter. Throws `invalid_request` for a text that no stored text can contain. */
export function toSearch(c: Context<Env>): string | undefined {
  const search = c.req.query('search')?.trim().slice(0, 100)
  if (search?.includes(String.fromCharCode(0))) {
    throw invalidRequest('search', 'bad_format', 'search: holds a zero character.')
  }
  return search || undefined
}
