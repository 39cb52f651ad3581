import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendOperatorRequest, problem } from '../../harness/operator'
import { startGateway, type Gateway } from '../../harness/server'

let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway()
  for (let number = 1; number <= 25; number++) {
    const name = String(number).padStart(2, '0')
    await gateway.admin('POST', '/users', { email: `page-${name}@example.com` })
    await gateway.admin('POST', '/providers', {
      key: `page-${name}`,
      name: `Page ${name}`,
      adapter: 'openai',
      keyless: true,
      base_url: 'http://127.0.0.1:9/v1',
    })
    await gateway.admin('POST', '/connections', { name: `page-${name}`, provider: 'page-01' })
    await gateway.admin('POST', '/models', {
      id: `page-01/m-${name}`,
      name: `page ${name}`,
      category: 'chat',
      is_free: true,
    })
  }
})
afterAll(async () => {
  gateway.recorder.verify()
  await gateway[Symbol.asyncDispose]()
})

interface List {
  ids: string[]
  pagination: {
    total: number
    limit: number
    offset: number
    has_more: boolean
    next_cursor: string | null
  }
}

async function list(plural: string, query: string): Promise<List> {
  const { status, body } = await sendOperatorRequest(gateway, `GET /${plural}?${query}`)
  expect(status).toBe(200)
  const { [plural]: rows, pagination } = JSON.parse(JSON.stringify(body))
  return { ids: rows.map(({ id }: { id: string }) => id), pagination }
}

describe.each(['users', 'providers', 'models', 'connections'])('the list of %s', (plural) => {
  test('by cursor and by offset holds every row once, in one order', async () => {
    const whole = await list(plural, 'limit=100&search=page')
    expect(whole.pagination).toEqual({
      total: 25,
      limit: 100,
      offset: 0,
      has_more: false,
      next_cursor: null,
    })
    expect(new Set(whole.ids).size).toBe(25)
    expect(whole.ids).toEqual(whole.ids.toSorted().toReversed())
    const byOffset = await Promise.all(
      [0, 10, 20].map((offset) => list(plural, `limit=10&search=page&offset=${offset}`)),
    )
    expect(byOffset.flatMap(({ ids }) => ids)).toEqual(whole.ids)
    expect(byOffset.map(({ pagination }) => pagination.has_more)).toEqual([true, true, false])
    const byCursor: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: List = await list(plural, `limit=10&search=page${cursor && `&cursor=${cursor}`}`)
      byCursor.push(...page.ids)
      expect(page.pagination.total).toBe(25)
      cursor = page.pagination.next_cursor
    }
    expect(byCursor).toEqual(whole.ids)
  })

  test('has fifty rows by default, and rejects invalid pages', async () => {
    expect((await list(plural, '')).pagination.limit).toBe(50)
    const odd: [string, string, string][] = [
      ['limit=0', 'limit', 'out_of_range'],
      ['limit=101', 'limit', 'out_of_range'],
      ['limit=1.5', 'limit', 'wrong_type'],
      ['limit=many', 'limit', 'wrong_type'],
      ['offset=-1', 'offset', 'out_of_range'],
      ['offset=10001', 'offset', 'out_of_range'],
      ['cursor=nonsense', 'cursor', 'bad_format'],
      ['search=%00', 'search', 'bad_format'],
    ]
    for (const [query, param, issue] of odd) {
      const refused = await sendOperatorRequest(gateway, `GET /${plural}?${query}`)
      expect([query, ...problem(refused)]).toEqual([query, 400, param, issue])
    }
  })

  test('A02: a cursor of another list, or of another search, is rejected', async () => {
    const others = ['users', 'providers', 'models', 'connections'].filter((it) => it !== plural)
    const queries = [
      `${plural}?limit=1&search=pag`,
      ...others.map((it) => `${it}?limit=1&search=page`),
    ]
    for (const query of queries) {
      const { body } = await sendOperatorRequest(gateway, `GET /${query}`)
      const { next_cursor: cursor } = JSON.parse(JSON.stringify(body['pagination']))
      expect(cursor).toBeString()
      const refused = await sendOperatorRequest(
        gateway,
        `GET /${plural}?search=page&cursor=${cursor}`,
      )
      expect(problem(refused)).toEqual([400, 'cursor', 'bad_format'])
    }
  })

  test('A10: a search takes wildcards, quotes and backslashes as they are', async () => {
    for (const search of [
      '%',
      'page_01',
      '100%',
      '\\',
      "'",
      '"',
      "' or '1'='1",
      'page%01',
      '\u{1F4A9}',
    ]) {
      const found = await list(plural, `search=${encodeURIComponent(search)}`)
      expect([search, found.pagination.total]).toEqual([search, 0])
    }
    expect((await list(plural, 'search=PAGE')).pagination.total).toBe(25)
  })
})
