import { describe, expect, test } from 'bun:test'
import { useMarketFixture } from './market-fixture'
import { listIn, problem } from './requests'
import type { Json } from '../../harness/http'

const { fixture, api, newCustomer, idsOf } = useMarketFixture()

describe('favourites', () => {
  test('are kept for their account alone, newest first', async () => {
    const owner = await newCustomer()
    const first = await api(owner, 'POST /favorites', { model_id: 'fake/one' })
    expect(first.status).toBe(201)
    expect(first.body).toEqual({
      model_id: 'fake/one',
      model: expect.objectContaining({ id: 'fake/one', is_favorite: true }),
      created_at: expect.stringMatching(/Z$/),
    })
    const again = await api(owner, 'POST /favorites', { model_id: 'fake/one' })
    expect([again.status, again.body]).toEqual([200, first.body])
    const other = await api(owner, 'POST /favorites', { model_id: 'collection/auto-free' })
    expect([other.status, other.body['model']]).toEqual([201, null])
    const kept = listIn(await api(owner, 'GET /favorites'), 'favorites')
    expect(kept.map((one) => one['model_id'])).toEqual(['collection/auto-free', 'fake/one'])
    expect(listIn(await api(fixture().reader, 'GET /favorites'), 'favorites')).toEqual([])
    expect((await api(fixture().reader, 'GET /models/fake/one')).body['is_favorite']).toBe(false)
    expect((await api(fixture().reader, 'DELETE /favorites/fake/one')).error.code).toBe(
      'resource_not_found',
    )
    expect((await api(owner, 'DELETE /favorites/fake%2Fone')).status).toBe(200)
    expect((await api(owner, 'DELETE /favorites/fake/one')).error.code).toBe('resource_not_found')
    expect(listIn(await api(owner, 'GET /favorites'), 'favorites')).toHaveLength(1)
  })

  test('must be there', async () => {
    for (const id of ['fake/none', 'fake/off', 'collection/none', 'nonsense']) {
      const { status, error } = await api(fixture().reader, 'POST /favorites', { model_id: id })
      expect([status, error.code, error.param]).toEqual([404, 'model_not_found', 'model_id'])
    }
    expect(problem(await api(fixture().reader, 'POST /favorites', {}))).toEqual([
      400,
      'model_id',
      'required',
    ])
  })
})

describe('ratings', () => {
  test('are one for each account, counted and averaged', async () => {
    const [one, other, third] = [await newCustomer(), await newCustomer(), await newCustomer()]
    const path = '/models/fake/two/b:1/ratings'
    const first = await api(one, `POST ${path}`, { rating: 2, review: '  Slow.  ' })
    expect(first.status).toBe(201)
    expect(first.body).toEqual({
      id: expect.stringMatching(/^rating_[0-9a-hjkmnp-tv-z]{26}$/),
      model_id: 'fake/two/b:1',
      user_id: one.userId,
      user_name: expect.stringMatching(/^customer-/),
      rating: 2,
      review: 'Slow.',
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    })
    await api(other, 'POST /models/fake%2Ftwo%2Fb%3A1/ratings', { rating: 5 })
    await api(third, `POST ${path}`, { rating: 4 })
    const replaced = await api(one, `POST ${path}`, { rating: 4 })
    expect(replaced.status).toBe(200)
    const { id, created_at } = first.body
    expect(replaced.body).toMatchObject({ id, created_at, rating: 4, review: null })

    const list = await api(one, `GET ${path}`)
    expect(list.body).toMatchObject({
      model_id: 'fake/two/b:1',
      summary: { average: 4.33, count: 3, distribution: { 1: 0, 2: 0, 3: 0, 4: 2, 5: 1 } },
      my_rating: { id },
      pagination: { total: 3, has_more: false },
    })
    const order = async (query: string) =>
      listIn(await api(fixture().reader, `GET ${path}?${query}`), 'ratings').map(
        (it) => it['user_id'],
      )
    expect(await order('')).toEqual([third, other, one].map(({ userId }) => userId))
    expect(await order('sort=highest')).toEqual([other, third, one].map(({ userId }) => userId))
    expect(await order('sort=lowest')).toEqual([third, one, other].map(({ userId }) => userId))
    expect((await api(fixture().reader, `GET ${path}`)).body['my_rating']).toBeNull()
    expect((await api(fixture().reader, 'GET /models/fake/two/b:1')).body['rating']).toEqual({
      average: 4.33,
      count: 3,
    })
    expect((await idsOf('provider=fake&sort=rating'))[0]).toBe('fake/two/b:1')

    for (const sort of ['highest', 'lowest']) {
      const seen: unknown[] = []
      let cursor = ''
      for (let page = 0; page < 3; page++) {
        const answer = await api(fixture().reader, `GET ${path}?sort=${sort}&limit=1${cursor}`)
        seen.push(...listIn(answer, 'ratings').map((it) => it['user_id']))
        cursor = `&cursor=${String({ ...Object(answer.body['pagination']) }.next_cursor)}`
      }
      expect(seen).toEqual(await order(`sort=${sort}`))
    }

    const own = await api(one, 'GET /ratings/my-ratings')
    expect(listIn(own, 'ratings')).toEqual([replaced.body])
    expect(own.body['pagination']).toMatchObject({ total: 1 })
    expect((await api(fixture().reader, `DELETE ${path}`)).error.code).toBe('resource_not_found')
    expect((await api(one, `DELETE ${path}`)).status).toBe(200)
    expect((await api(one, `DELETE ${path}`)).error.code).toBe('resource_not_found')
    expect((await api(one, `GET ${path}`)).body['summary']).toEqual({
      average: 4.5,
      count: 2,
      distribution: { 1: 0, 2: 0, 3: 0, 4: 1, 5: 1 },
    })
  })

  test('given at once by one account are one', async () => {
    const owner = await newCustomer()
    const path = '/models/fake/gift/ratings'
    await Promise.all([1, 2, 3, 4, 5].map((rating) => api(owner, `POST ${path}`, { rating })))
    const { body } = await api(owner, `GET ${path}`)
    expect(body).toMatchObject({ summary: { count: 1 }, pagination: { total: 1 } })
  })

  test.each<[Json, string, string]>([
    [{}, 'rating', 'required'],
    [{ rating: 0 }, 'rating', 'out_of_range'],
    [{ rating: 6 }, 'rating', 'out_of_range'],
    [{ rating: 4.5 }, 'rating', 'wrong_type'],
    [{ rating: 4, review: 'x'.repeat(2001) }, 'review', 'too_long'],
  ])('%j is rejected at %s: %s', async (body, param, issue) => {
    const answer = await api(fixture().reader, 'POST /models/fake/one/ratings', body)
    expect(problem(answer)).toEqual([400, param, issue])
  })

  test('are of existing models, in a fixed order', async () => {
    for (const request of ['GET /models/fake/none/ratings', 'POST /models/nobody/ratings']) {
      const { status, error } = await api(
        fixture().reader,
        request,
        request.startsWith('P') ? { rating: 1 } : undefined,
      )
      expect([status, error.code]).toEqual([404, 'model_not_found'])
    }
    const sorted = await api(fixture().reader, 'GET /models/fake/one/ratings?sort=oldest')
    expect(problem(sorted)).toEqual([400, 'sort', 'unknown_value'])
  })

  test('are changed, like favourites, by keys that may write', async () => {
    const plain = await fixture().gateway.customer({ permissions: ['read'] }, { credit: 0 })
    const requests = [
      'POST /favorites',
      'DELETE /favorites/fake/one',
      'POST /models/fake/one/ratings',
      'DELETE /models/fake/one/ratings',
    ]
    for (const request of requests) {
      expect((await api(plain, request)).error.code).toBe('insufficient_permissions')
    }
  })
})
