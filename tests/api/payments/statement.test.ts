import { beforeAll, expect, test } from 'bun:test'
import { useBilledFixture } from './billed-fixture'
import { balanceOf, listIn, objectIn } from './fixture'
import { dayWaitMs, untilDayLasts } from '../../../server/testing/calendar'
import { eventually } from '../../../server/testing/eventually'
import { createFundingFixture } from '../../money/funding/fixture'
import { newOrganization } from '../../harness/organization'
import { problem, call } from '../../harness/byok'
import { sendRequest, messages, type Answer, type Json } from '../../harness/http'
import type { Customer } from '../../harness/server'

const { fixture, read, grant } = useBilledFixture()

beforeAll(() => untilDayLasts(), dayWaitMs)

const toNanos = (amount: unknown) => Math.round(Number(amount) * 1e9)

async function chat(customer: Customer, model: string): Promise<number> {
  const body = { model, messages, max_tokens: 5 }
  const answer = await sendRequest(fixture().gateway, { key: customer.key, body })
  expect(answer.status).toBe(200)
  return Number(answer.headers.get('x-tollgate-cost'))
}

/** The amounts and balances of a statement follow from each other, to the nano-dollar. */
function expectSums(statement: Answer) {
  let balance = toNanos(statement.body['opening_balance'])
  for (const { amount, balance_after: after } of listIn(statement, 'lines')) {
    balance += toNanos(amount)
    expect(toNanos(after)).toBe(balance)
  }
  expect(toNanos(statement.body['closing_balance'])).toBe(balance)
}

/** The cells of CSV without commas in them, by the names of the columns. */
function cellsOf(text: string): Json[] {
  const [head = '', ...lines] = text.trimEnd().split('\r\n')
  const names = head.split(',')
  return lines.map((line) =>
    Object.fromEntries(line.split(',').map((cell, index) => [names[index], cell])),
  )
}

const usageIn = (statement: Answer) =>
  listIn(statement, 'lines').filter(({ type }) => type === 'usage')

const summaryOf = (row: Json) => [row['type'], row['date'], Number(row['amount'])]

test('a statement has a line for a day, which the breakdown, the balance and the CSV agree with', async () => {
  const customer = await fixture().newCustomer()
  await grant({ user_id: customer.userId, amount: 5, reason: 'Welcome' })
  const costs = [await chat(customer, 'sandbox/priced'), await chat(customer, 'sandbox/priced')]
  await chat(customer, 'sandbox/echo')
  const cost = costs.reduce((sum, one) => sum + one, 0)
  await eventually(async () => {
    const statement = await read(customer, '/statement')
    const [line] = usageIn(statement)
    return Number(line?.['amount']) <= 1e-9 - cost && statement.body['uncharged_requests'] === 1
  })
  const statement = await read(customer, '/statement')
  expect(statement.body).toMatchObject({
    organization_id: null,
    currency: 'USD',
    in_progress: true,
    opening_balance: 0,
    totals: { bonus: 5, usage: -Number(cost.toFixed(9)), purchase: 0 },
    other_payers: [],
    uncharged_requests: 1,
  })
  expectSums(statement)
  const lines = listIn(statement, 'lines')
  expect(lines).toMatchObject([
    { type: 'bonus', amount: 5, description: 'Welcome', transaction_id: expect.any(String) },
    {
      type: 'usage',
      at: null,
      usage: {
        requests: 2,
        models: [{ model: 'sandbox/priced', requests: 2 }],
        other_models: null,
      },
    },
  ])
  const { balance } = await balanceOf(fixture().gateway, customer)
  expect(statement.body['closing_balance']).toBe(balance)
  const day = String(lines[1]?.['date'])
  const breakdown = await read(customer, `/breakdown?start_date=${day}&end_date=${day}`)
  expect(toNanos(objectIn(breakdown, 'total')['cost'])).toBe(-toNanos(lines[1]?.['amount']))
  const file = await read(customer, '/statement.csv')
  expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const [opening, ...rows] = cellsOf(file.text)
  const closing = rows.pop()
  expect([opening, closing].map((row) => [row?.['type'], Number(row?.['balance_after'])])).toEqual([
    ['opening_balance', 0],
    ['closing_balance', Number(balance)],
  ])
  expect(rows.map(summaryOf)).toEqual(lines.map(summaryOf))
})

test('a description runs no formula in a spreadsheet', async () => {
  const customer = await fixture().newCustomer()
  await grant({ user_id: customer.userId, amount: 1, reason: '=HYPERLINK("x")' })
  const file = await read(customer, '/statement.csv')
  expect(file.text).toContain(`"'=HYPERLINK(""x"")"`)
})

test('an organization has a statement of its pool, for its managers; every other account receives 404', async () => {
  const { id, owner, member } = await newOrganization(fixture())
  const [admin, viewer] = [await member('admin'), await member('viewer')]
  const stranger = await fixture().newCustomer()
  await grant({ organization_id: id, amount: 9, reason: 'Welcome' })
  for (const path of ['/statement', '/statement.csv', '/forecast']) {
    const query = `${path}?organization_id=${id}`
    expect((await read(owner, query)).status).toBe(200)
    expect((await read(admin, query)).status).toBe(200)
    expect((await read(viewer, query)).status).toBe(403)
    expect((await read(stranger, query)).status).toBe(404)
  }
  const statement = await read(admin, `/statement?organization_id=${id}`)
  expect(statement.body).toMatchObject({
    organization_id: id,
    closing_balance: 9,
    lines: [{ type: 'bonus', amount: 9 }],
  })
  expect((await read(admin, '/statement')).body['lines']).toEqual([])
})

test('usage that the pool paid is in its statement, and named in that of the member', async () => {
  await using on = await createFundingFixture()
  const organization = await on.organization()
  const member = await on.funded(organization)
  await on.grant({ organization_id: organization.id })
  const { headers } = await on.chat(member)
  const cost = Number(headers.get('x-tollgate-cost'))
  const statementOf = (customer: Customer, query = '') =>
    call(on.fixture.gateway, customer, `GET /billing/statement${query}`)
  const ofPool = `?organization_id=${organization.id}`
  await eventually(
    async () => listIn(await statementOf(organization.owner, ofPool), 'lines').length === 2,
  )
  const pool = await statementOf(organization.owner, ofPool)
  expect(pool.body['lines']).toMatchObject([
    { type: 'bonus', amount: 1 },
    { type: 'usage', amount: -cost, usage: { requests: 1 } },
  ])
  expectSums(pool)
  expect((await statementOf(member)).body).toMatchObject({
    lines: [],
    closing_balance: 0,
    other_payers: [{ payer: 'organization', organization_id: organization.id, cost }],
  })
})

test.each([
  ['/statement?month=2026-13', 'month'],
  ['/statement?month=2999-01', 'month'],
  ['/statement?month=2099-01', 'month'],
  ['/statement?time_zone=Nowhere', 'time_zone'],
  ['/statement.csv?month=november', 'month'],
  ['/statement?month=2020-01&time_zone=Asia/Tokyo', 'time_zone'],
  ['/forecast?time_zone=%2B02:00', 'time_zone'],
])('%s is rejected', async (path, param) => {
  const [status, named] = problem(await read(await fixture().newCustomer(), path))
  expect([status, named]).toEqual([400, param])
})

test('a month before the account is empty', async () => {
  const { body } = await read(await fixture().newCustomer(), '/statement?month=2020-02')
  expect(body).toMatchObject({ opening_balance: 0, closing_balance: 0, lines: [] })
  expect(body['in_progress']).toBe(false)
})

test('an account without usage has no forecast', async () => {
  const { body } = await read(await fixture().newCustomer(), '/forecast')
  expect(body).toMatchObject({ spent: 0, forecast: null })
})
