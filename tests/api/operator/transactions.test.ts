import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendOperatorRequest, problem } from '../../harness/operator'
import { openDatabase } from '../../harness/database'
import { startGateway, type Gateway } from '../../harness/server'

let gateway: Gateway
let userId: string

beforeAll(async () => {
  gateway = await startGateway()
  const user = await gateway.admin('POST', '/users', { email: 'moved@example.com' })
  userId = String(user['id'])
  const target = { user_id: userId, reason: 'test' }
  await gateway.admin('POST', '/credits/grant', { ...target, amount: 5 })
  await gateway.admin('POST', '/credits/adjust', { ...target, amount: -1.5 })
  await using sql = await openDatabase(gateway.dataDir)
  await sql`insert into payment (id, kind, account_id, user_id, amount, status)
    values ('chk_1', 'checkout', ${userId}, ${userId}, 20000000000, 'pending'),
      ('chk_2', 'automatic', ${userId}, ${userId}, 30000000000, 'failed')`
})
afterAll(async () => {
  gateway.recorder.verify()
  await gateway[Symbol.asyncDispose]()
})

interface Listed {
  rows: Record<string, unknown>[]
  pagination: Record<string, unknown>
}

async function list(query: string): Promise<Listed> {
  const { status, body } = await sendOperatorRequest(gateway, `GET /transactions?${query}`)
  expect(status).toBe(200)
  const { transactions, pagination } = JSON.parse(JSON.stringify(body))
  return { rows: transactions, pagination }
}

/** Of the one account: others are given something too. */
const amountsOf = async (query: string) =>
  (await list(`user_id=${userId}&${query}`)).rows.map(({ amount }) => amount)

describe('the movements of all accounts', () => {
  test('show their account, payments that did not come among them', async () => {
    const { rows, pagination } = await list(`user_id=${userId}`)
    expect(pagination['total']).toBe(4)
    expect(rows).toMatchObject([
      { type: 'purchase', status: 'failed', amount: 30, balance_after: null },
      { type: 'purchase', status: 'pending', amount: 20, balance_after: null },
      { type: 'adjustment', status: 'completed', amount: -1.5, balance_after: 3.5 },
      { type: 'bonus', status: 'completed', amount: 5, balance_after: 5 },
    ])
    const everybodys = (await list('limit=100')).rows.map(({ id }) => id)
    expect(everybodys).toEqual(expect.arrayContaining(rows.map(({ id }) => id)))
    for (const row of rows) {
      expect(row).toMatchObject({ user_id: userId, payer_name: 'moved@example.com' })
    }
  })

  test('are found by type, state and day', async () => {
    expect(await amountsOf('type=bonus')).toEqual([5])
    expect(await amountsOf('type=purchase')).toEqual([30, 20])
    expect(await amountsOf('type=usage')).toEqual([])
    expect(await amountsOf('status=pending')).toEqual([20])
    expect(await amountsOf('status=completed')).toEqual([-1.5, 5])
    expect(await amountsOf('type=bonus&status=failed')).toEqual([])
    expect(await amountsOf('end_date=2001-01-01')).toEqual([])
    expect(await amountsOf('start_date=2001-01-01&type=adjustment')).toEqual([-1.5])
    const today = new Date().toISOString().slice(0, 10)
    expect(await amountsOf(`end_date=${today}`)).toHaveLength(4)
  })

  test('come page by page, each once', async () => {
    const seen: unknown[] = []
    let cursor = ''
    do {
      const { rows, pagination } = await list(`limit=1&user_id=${userId}${cursor}`)
      seen.push(...rows.map(({ amount }) => amount))
      const { next_cursor: next } = pagination
      cursor = typeof next === 'string' ? `&cursor=${next}` : ''
    } while (cursor !== '')
    expect(seen).toEqual([30, 20, -1.5, 5])
    expect(await amountsOf('limit=2&offset=1')).toEqual([20, -1.5])
  })

  test.each([
    ['type=magic', 'type', 'unknown_value'],
    ['status=lost', 'status', 'unknown_value'],
    ['start_date=tomorrow', 'start_date', 'bad_format'],
    ['start_date=2026-02-01&end_date=2026-01-01', 'start_date', 'out_of_range'],
    ['user_id=a&organization_id=b', 'organization_id', 'conflict'],
  ])('%s is rejected at %s: %s', async (query, param, issue) => {
    expect(problem(await sendOperatorRequest(gateway, `GET /transactions?${query}`))).toEqual([
      400,
      param,
      issue,
    ])
  })
})
