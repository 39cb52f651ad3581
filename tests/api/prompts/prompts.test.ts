import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { call, idIn, problem } from '../../harness/byok'
import { errorForBody, oversizedPrompt } from './too-large'
import { openDatabase } from '../../harness/database'
import type { Json } from '../../harness/http'
import { startGateway, type Customer, type Gateway } from '../../harness/server'

let gateway: Gateway
let customer: Customer
let stranger: Customer

beforeAll(async () => {
  gateway = await startGateway()
  customer = await gateway.customer({}, { credit: 0 })
  stranger = await gateway.customer({}, { credit: 0 })
})
afterAll(() => gateway[Symbol.asyncDispose]())
afterEach(() => gateway.recorder.verify())

const api = (request: string, body?: Json, by = customer) => call(gateway, by, request, body)
const fields = (more: Json = {}): Json => ({ title: 'One', content: 'Say {{word}}.', ...more })
const made = async (more: Json = {}, by = customer) =>
  idIn(await api('POST /user/prompts', fields(more), by))
const titles = async (query: string, by = customer) => {
  const { body } = await api(`GET /user/prompts?${query}`, undefined, by)
  return Array.isArray(body['prompts']) ? body['prompts'].map(({ title }) => title) : body
}
const newCustomer = () => gateway.customer({}, { credit: 0 })

test('a prompt is stored with its fields and its variables', async () => {
  const content = 'To {{ name }}: {{topic}}, again {{name}}, not {{two words}}, {{}} or {single}.'
  const { status, body } = await api('POST /user/prompts', { title: '  Letter ', content })
  expect([status, body]).toEqual([
    201,
    {
      id: expect.stringMatching(/^prompt_[0-9a-z]{26}$/),
      title: 'Letter',
      content,
      description: null,
      category: null,
      tags: [],
      variables: ['name', 'topic'],
      is_favorite: false,
      usage_count: 0,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    },
  ])
})

describe('is rejected', () => {
  test.each<[string, string, Json]>([
    ['title', 'required', { title: undefined }],
    ['title', 'too_short', { title: ' ' }],
    ['title', 'too_long', { title: 'x'.repeat(201) }],
    ['title', 'wrong_type', { title: 1 }],
    ['content', 'required', { content: undefined }],
    ['content', 'too_short', { content: '' }],
    ['content', 'too_long', { content: 'x'.repeat(20_001) }],
    ['description', 'too_long', { description: 'x'.repeat(1001) }],
    ['category', 'too_long', { category: 'x'.repeat(51) }],
    ['tags', 'wrong_type', { tags: 'a' }],
    ['tags', 'too_many', { tags: Array.from({ length: 21 }, String) }],
    ['tags.1', 'too_short', { tags: ['a', ''] }],
    ['tags.0', 'too_long', { tags: ['x'.repeat(51)] }],
    ['is_favorite', 'wrong_type', { is_favorite: 'yes' }],
  ])('a prompt at %s: %s (case %#)', async (param, issue, more) => {
    expect(problem(await api('POST /user/prompts', fields(more)))).toEqual([400, param, issue])
  })

  test.each<[Json, string | null, string]>([
    [{}, null, 'empty'],
    [{ title: null }, 'title', 'wrong_type'],
    [{ tags: null }, 'tags', 'wrong_type'],
    [{ used: 'yes' }, 'used', 'wrong_type'],
    [{ used: false }, 'used', 'unknown_value'],
  ])('a change %j, with param %p: %s', async (change, param, issue) => {
    const id = await made()
    expect(problem(await api(`PUT /user/prompts/${id}`, change))).toEqual([400, param, issue])
  })

  test.each([
    [`search=${'x'.repeat(101)}`, 'search', 'too_long'],
    ['is_favorite=yes', 'is_favorite', 'unknown_value'],
    ['limit=0', 'limit', 'out_of_range'],
    ['cursor=nonsense', 'cursor', 'bad_format'],
  ])('a list with %s', async (query, param, issue) => {
    expect(problem(await api(`GET /user/prompts?${query}`))).toEqual([400, param, issue])
  })

  test('a body of more than 1 MB', async () => {
    const large = { path: '/api/user/prompts', bytes: 1024 * 1024 + 1 }
    expect(await errorForBody(gateway, customer, large)).toMatchObject(oversizedPrompt)
    const small = fields({ description: 'x'.repeat(1000), ignored: 'x'.repeat(900_000) })
    expect((await api('POST /user/prompts', small)).status).toBe(201)
  })

  test('A01: without the permission', async () => {
    const reader = await gateway.customer({ permissions: ['read'] }, { credit: 0 })
    const writer = await gateway.customer({ permissions: ['write'] }, { credit: 0 })
    const id = await made()
    for (const request of [
      'POST /user/prompts',
      'POST /user/prompts/bulk',
      `PUT /user/prompts/${id}`,
      `DELETE /user/prompts/${id}`,
    ]) {
      const { status, error } = await api(request, fields(), reader)
      expect([status, error.details]).toEqual([403, { required: ['write'], current: ['read'] }])
    }
    expect((await api('GET /user/prompts', undefined, writer)).status).toBe(403)
  })
})

test('A03: prompts of others are 404', async () => {
  const id = await made({ title: 'Private' })
  for (const request of [`PUT /user/prompts/${id}`, `DELETE /user/prompts/${id}`]) {
    const { status, error } = await api(request, { title: 'Mine' }, stranger)
    expect([status, error.code]).toEqual([404, 'resource_not_found'])
  }
  const gone = await api('POST /user/prompts/bulk', { action: 'delete', ids: [id] }, stranger)
  expect(problem(gone)).toEqual([400, 'ids', 'unknown_value'])
  expect(await titles('', stranger)).toEqual([])
  expect(await titles('search=private')).toEqual(['Private'])
  for (const unknown of ['nonsense', 'prompt_00000000000000000000000000']) {
    expect((await api(`PUT /user/prompts/${unknown}`, { title: 'x' })).status).toBe(404)
    expect((await api(`DELETE /user/prompts/${unknown}`)).status).toBe(404)
  }
})

test('a change takes some fields, and null where there may be nothing', async () => {
  const id = await made({ description: 'Long', category: 'mail', tags: ['a'] })
  const { status, body } = await api(`PUT /user/prompts/${id}`, {
    content: '{{other}}',
    description: null,
    category: null,
    is_favorite: true,
  })
  expect([status, body]).toEqual([
    200,
    expect.objectContaining({
      title: 'One',
      variables: ['other'],
      description: null,
      category: null,
      tags: ['a'],
      is_favorite: true,
      usage_count: 0,
    }),
  ])
  expect((await api(`DELETE /user/prompts/${id}`)).body).toEqual({
    success: true,
    message: expect.any(String),
  })
  expect((await api(`DELETE /user/prompts/${id}`)).status).toBe(404)
})

test('uses are counted, also concurrent ones, and are not a change', async () => {
  const id = await made()
  const uses = Array.from({ length: 10 }, () => api(`PUT /user/prompts/${id}`, { used: true }))
  expect((await Promise.all(uses)).map(({ status }) => status)).toEqual(Array(10).fill(200))
  const { body } = await api(`PUT /user/prompts/${id}`, { used: true })
  expect(body['usage_count']).toBe(11)
  expect(body['updated_at']).toBe(body['created_at'])
})

test('a list is filtered, newest first, and paged', async () => {
  const owner = await newCustomer()
  await made({ title: 'A 100% mail', category: 'mail', tags: ['x', 'y'] }, owner)
  await made({ title: 'B', content: 'a MAIL', is_favorite: true, tags: ['y'] }, owner)
  await made({ title: 'C', description: 'no m_il', category: 'other' }, owner)
  expect(await titles('', owner)).toEqual(['C', 'B', 'A 100% mail'])
  expect(await titles('search=mail', owner)).toEqual(['B', 'A 100% mail'])
  expect(await titles('search=%25', owner)).toEqual(['A 100% mail'])
  expect(await titles('search=m_i', owner)).toEqual(['C'])
  expect(await titles('category=mail', owner)).toEqual(['A 100% mail'])
  expect(await titles('tag=y', owner)).toEqual(['B', 'A 100% mail'])
  expect(await titles('tag=y&category=mail', owner)).toEqual(['A 100% mail'])
  expect(await titles('is_favorite=true', owner)).toEqual(['B'])
  expect(await titles('is_favorite=false', owner)).toEqual(['C', 'A 100% mail'])
  const { body } = await api('GET /user/prompts?tag=y&limit=1', undefined, owner)
  const { pagination } = body
  expect(pagination).toMatchObject({ total: 2, limit: 1, has_more: true })
  const next = encodeURIComponent(String(Reflect.get(Object(pagination), 'next_cursor')))
  expect(await titles(`tag=y&limit=1&cursor=${next}`, owner)).toEqual(['A 100% mail'])
  // A cursor is of one list only.
  const other = await api(`GET /user/prompts?tag=x&cursor=${next}`, undefined, owner)
  expect(problem(other)).toEqual([400, 'cursor', 'bad_format'])
})

test.each(['category', 'tag'])(
  'a filter by a longer %s than a prompt can have is rejected',
  async (name) => {
    const tooLong = await api(`GET /user/prompts?${name}=${'x'.repeat(51)}`)
    expect(problem(tooLong)).toEqual([400, name, 'too_long'])
  },
)

const bulk = (body: Json, by = customer) => api('POST /user/prompts/bulk', body, by)

describe('many at once', () => {
  test('each is judged alone', async () => {
    const owner = await newCustomer()
    const { status, body } = await bulk(
      {
        prompts: [
          { title: 'First', content: 'x', description: null },
          { title: 'No content' },
          'nothing',
          { title: 'Tags', content: 'x', tags: ['fine', ''] },
          { title: 'Last', content: '{{v}}' },
        ],
      },
      owner,
    )
    expect([status, body]).toEqual([
      201,
      {
        success: false,
        created: 2,
        deleted: 0,
        failed: 3,
        prompts: [
          expect.objectContaining({ title: 'First', variables: [] }),
          expect.objectContaining({ title: 'Last', variables: ['v'] }),
        ],
        errors: [
          { index: 1, param: 'content', message: expect.stringContaining('required') },
          { index: 2, param: null, message: expect.any(String) },
          { index: 3, param: 'tags.1', message: expect.any(String) },
        ],
      },
    ])
    expect(await titles('', owner)).toHaveLength(2)
  })

  test('some are deleted', async () => {
    const [one, two] = [await made(), await made()]
    const { status, body } = await bulk({ action: 'delete', ids: [one, 'prompt_x', 7, two, one] })
    expect([status, body]).toEqual([
      200,
      {
        success: false,
        created: 0,
        deleted: 2,
        failed: 3,
        prompts: [],
        errors: [1, 2, 4].map((index) => ({ index, param: null, message: expect.any(String) })),
      },
    ])
  })

  test.each<[string, string, Json]>([
    ['prompts', 'required', {}],
    ['ids', 'required', { action: 'delete' }],
    ['action', 'unknown_value', { action: 'rename' }],
    ['prompts', 'empty', { prompts: [] }],
    ['prompts', 'wrong_type', { prompts: {} }],
    ['prompts', 'too_many', { prompts: Array(101).fill(fields()) }],
    ['ids', 'too_many', { action: 'delete', ids: Array(101).fill('x') }],
    ['prompts', 'required', { prompts: [{ title: 'x' }] }],
    ['ids', 'unknown_value', { action: 'delete', ids: ['x'] }],
    ['ids', 'conflict', { prompts: [fields()], ids: ['x'] }],
  ])('are rejected at %s: %s (case %#)', async (param, issue, body) => {
    expect(problem(await bulk(body))).toEqual([400, param, issue])
  })

  test('a body may have 8 MB', async () => {
    const prompts = Array.from({ length: 90 }, () => fields({ content: 'é'.repeat(20_000) }))
    expect((await bulk({ prompts })).body).toMatchObject({ created: 90 })
    const large = { path: '/api/user/prompts/bulk', bytes: 8 * 1024 * 1024 + 1 }
    expect(await errorForBody(gateway, customer, large)).toMatchObject(oversizedPrompt)
  })
})

test('an account has at most 5,000 prompts, under any number of concurrent requests', async () => {
  const owner = await newCustomer()
  await using sql = await openDatabase(gateway.dataDir)
  await sql`
    insert into prompt (id, user_id, title, content)
    select 'prompt_' || lpad(n::text, 26, '0'), ${owner.userId}, 'Old', 'x'
    from generate_series(1, 4994) as n`
  const bulks = Array.from({ length: 3 }, () =>
    api('POST /user/prompts/bulk', { prompts: Array(4).fill(fields()) }, owner),
  )
  const answers = await Promise.all(bulks)
  const created = answers.map(({ body }) => Number(body['created'] ?? 0))
  expect(created.reduce((sum, count) => sum + count, 0)).toBe(6)
  const refused = answers.find(({ status }) => status === 400)
  expect(refused && problem(refused)).toEqual([400, 'prompts', 'limit_reached'])
  const oneMore = await api('POST /user/prompts', fields(), owner)
  expect(problem(oneMore)).toEqual([400, null, 'limit_reached'])
})
