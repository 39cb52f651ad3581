import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { containing, pageFields, toPage, toPaged, type Page } from './paging'
import { ApiError } from '../errors'
import { check } from '../wire/json-body'

const PageQuery = z.object(pageFields)

/** The page that a query names, or the error that it causes. */
function page(query: string, scope = 'users'): { answer?: Page; error?: ApiError } {
  try {
    const sent = Object.fromEntries(new URLSearchParams(query))
    return { answer: toPage(check(PageQuery, sent), scope) }
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown
    return { error: thrown }
  }
}

const rows = Array.from({ length: 10 }, (_, index) => ({ id: `row_${9 - index}` }))

/** What a store gives for a page: one row more than was asked for. */
const select = ({ before, offset, limit }: Page) =>
  rows.filter(({ id }) => before === undefined || id < before).slice(offset, offset + limit + 1)

/** The cursor behind the first rows of a list. */
function cursorOf(scope: string): string {
  const { answer } = page('limit=3', scope)
  if (!answer) throw new Error('no page')
  return toPaged(answer, 10n, select(answer)).pagination.next_cursor ?? ''
}

describe('a page', () => {
  test('has fifty rows from the start by default', () => {
    const { answer } = page('')
    expect(answer).toEqual({ limit: 50, offset: 0, before: undefined, scope: 'users' })
  })

  test.each(['limit=0', 'limit=101', 'limit=x', 'limit=1.5', 'offset=-1', 'offset=10001'])(
    '%s is rejected, and the parameter named',
    async (query) => {
      const { error } = page(query)
      expect([error?.code, error?.param]).toEqual(['invalid_request', query.split('=')[0] ?? ''])
    },
  )

  test.each([1, 3, 5, 9, 10, 100])('by cursors of %d, every row comes once', async (limit) => {
    const ids: string[] = []
    let query = ''
    for (let calls = 0; calls < 12; calls++) {
      const { answer } = page(`limit=${limit}${query}`)
      if (!answer) throw new Error('no page')
      const { items, pagination } = toPaged(answer, 10n, select(answer))
      ids.push(...items.map(({ id }) => id))
      expect(pagination.has_more).toBe(ids.length < rows.length)
      if (pagination.next_cursor === null) break
      query = `&cursor=${pagination.next_cursor}`
    }
    expect(ids).toEqual(rows.map(({ id }) => id))
  })

  test('a cursor is where to go on, so that an offset beside it counts for nothing', () => {
    const { answer } = page(`offset=5&cursor=${cursorOf('users')}`)
    expect(answer).toMatchObject({ before: 'row_7', offset: 0 })
  })

  test('A02: a cursor is valid for its own list only, and cannot be forged', () => {
    const cursor = cursorOf('users of a')
    const forged = Buffer.from('row_7\n').toString('base64url')
    for (const [scope, sent] of [
      ['users of b', cursor],
      ['users of a', forged],
      ['users of a', `${cursor.slice(0, -2)}AA`],
      ['users of a', 'x'.repeat(201)],
      ['users of a', ''],
    ] as const) {
      const { error } = page(`cursor=${sent}`, scope)
      expect([error?.code, error?.param]).toEqual(['invalid_request', 'cursor'])
    }
  })
})

describe('a search', () => {
  test('takes wildcards and backslashes as they are', () => {
    expect(containing(String.raw`50%_a\b`)).toBe(String.raw`%50\%\_a\\b%`)
  })
})
