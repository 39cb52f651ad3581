import { describe, expect, test } from 'bun:test'
import { Hono } from 'hono'
import type { Env } from './env'
import { containing, toPage, toSearch, toPaged, type Page } from './paging'
import { ApiError } from '../errors'

/** What `read` makes of a query, or the error that it throws. */
async function asked<Answer>(
  query: string,
  read: (c: Parameters<typeof toPage>[0]) => Answer,
): Promise<{ answer?: Answer; error?: ApiError }> {
  const seen: { answer?: Answer; error?: ApiError } = {}
  const app = new Hono<Env>().get('/', (c) => {
    seen.answer = read(c)
    return c.body('')
  })
  app.onError((thrown, c) => {
    if (!(thrown instanceof ApiError)) throw thrown
    seen.error = thrown
    return c.body('')
  })
  await app.request(`/?${query}`)
  return seen
}

const page = (query: string, scope = 'users') => asked(query, (c) => toPage(c, scope))

const rows = Array.from({ length: 10 }, (_, index) => ({ id: `row_${9 - index}` }))

/** What a store gives for a page: one row more than was asked for. */
const select = ({ before, offset, limit }: Page) =>
  rows.filter(({ id }) => before === undefined || id < before).slice(offset, offset + limit + 1)

/** The cursor behind the first rows of a list. */
async function cursorOf(scope: string): Promise<string> {
  const { answer } = await page('limit=3', scope)
  if (!answer) throw new Error('no page')
  return toPaged(answer, 10n, select(answer)).pagination.next_cursor ?? ''
}

describe('a page', () => {
  test('has fifty rows from the start unless told otherwise', async () => {
    const { answer } = await page('')
    expect(answer).toEqual({ limit: 50, offset: 0, before: undefined, scope: 'users' })
  })

  test.each(['limit=0', 'limit=101', 'limit=x', 'limit=1.5', 'offset=-1', 'offset=10001'])(
    '%s is refused, and the parameter named',
    async (query) => {
      const { error } = await page(query)
      expect([error?.code, error?.param]).toEqual(['invalid_request', query.split('=')[0] ?? ''])
    },
  )

  test.each([1, 3, 5, 9, 10, 100])('by cursors of %d, every row comes once', async (limit) => {
    const ids: string[] = []
    let query = ''
    for (let calls = 0; calls < 12; calls++) {
      const { answer } = await page(`limit=${limit}${query}`)
      if (!answer) throw new Error('no page')
      const { shown, pagination } = toPaged(answer, 10n, select(answer))
      ids.push(...shown.map(({ id }) => id))
      expect(pagination.has_more).toBe(ids.length < rows.length)
      if (pagination.next_cursor === null) break
      query = `&cursor=${pagination.next_cursor}`
    }
    expect(ids).toEqual(rows.map(({ id }) => id))
  })

  test('a cursor is where to go on, so that an offset beside it counts for nothing', async () => {
    const { answer } = await page(`offset=5&cursor=${await cursorOf('users')}`)
    expect(answer).toMatchObject({ before: 'row_7', offset: 0 })
  })

  test('A02: a cursor is good for its own list only, and none can be made up', async () => {
    const cursor = await cursorOf('users of a')
    const forged = Buffer.from('row_7\n').toString('base64url')
    for (const [scope, sent] of [
      ['users of b', cursor],
      ['users of a', forged],
      ['users of a', `${cursor.slice(0, -2)}AA`],
      ['users of a', 'x'.repeat(201)],
      ['users of a', ''],
    ] as const) {
      const { error } = await page(`cursor=${sent}`, scope)
      expect([error?.code, error?.param]).toEqual(['invalid_request', 'cursor'])
    }
  })
})

describe('a search', () => {
  test('takes wildcards and backslashes as they are', () => {
    expect(containing(String.raw`50%_a\b`)).toBe(String.raw`%50\%\_a\\b%`)
  })

  test('is trimmed; nothing but spaces is no search', async () => {
    expect((await asked('search=%20a%20b%20', toSearch)).answer).toBe('a b')
    expect((await asked('search=%20%20', toSearch)).answer).toBeUndefined()
    expect((await asked('', toSearch)).answer).toBeUndefined()
  })

  test('for a zero character is refused, as no text of ours holds one', async () => {
    const { error } = await asked('search=a%00b', toSearch)
    expect([error?.code, error?.param]).toEqual(['invalid_request', 'search'])
  })
})
