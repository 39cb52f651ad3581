import { expect, test } from 'bun:test'
import { useBilledFixture } from './billed-fixture'
import { balanceOf, listIn, objectIn, transactionsOf } from './fixture'
import { eventually } from '../../../server/testing/eventually'
import { newOrganization } from '../../harness/organization'
import { problem } from '../../harness/byok'
import { sendRequest, messages, type Json } from '../../harness/http'

const { fixture, read, grant } = useBilledFixture()

test('a balance shows its amount, and marks a low one', async () => {
  const customer = await fixture().newCustomer()
  expect(await balanceOf(fixture().gateway, customer)).toEqual({
    balance: 0,
    held: 0,
    available_balance: 0,
    currency: 'USD',
    minimum_required: 0,
    warning_threshold: 1,
    low_balance: true,
    funding_source: 'personal',
    organization_id: null,
    payment_method_required: false,
    is_charged: true,
    updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
  })
  await grant({ user_id: customer.userId, amount: 1, reason: 'Welcome' })
  expect(await balanceOf(fixture().gateway, customer)).toMatchObject({
    balance: 1,
    available_balance: 1,
    low_balance: false,
  })
  // What requests hold of what a node has set aside.
  await fixture().sql`update credit_account set leased = 500000000 where id = ${customer.userId}`
  await fixture().sql`
    insert into credit_lease (id, account_id, node_id, amount, expires_at)
    values ('lease_of_a_test', ${customer.userId}, 'node', 500000000, now() + interval '1 hour')`
  await fixture().sql`insert into credit_held values ('lease_of_a_test', 250000000)`
  expect(await balanceOf(fixture().gateway, customer)).toMatchObject({
    balance: 1,
    held: 0.25,
    available_balance: 0.75,
    low_balance: true,
  })
  await fixture().sql`delete from credit_held where lease_id = 'lease_of_a_test'`
  await fixture().sql`delete from credit_lease where id = 'lease_of_a_test'`
  await fixture().sql`update credit_account set leased = 0 where id = ${customer.userId}`
})

test('finding N20: the balance of an account shows that the platform pays instead', async () => {
  const customer = await fixture().newCustomer()
  await fixture().sql`
    update users set plan_id = (select id from plan where house_pays) where id = ${customer.userId}`
  expect(await balanceOf(fixture().gateway, customer)).toMatchObject({ is_charged: false })
})

test('usage is among the transactions, with its request where it was one', async () => {
  const customer = await fixture().newCustomer()
  await grant({ user_id: customer.userId, amount: 2, reason: 'Welcome' })
  const body = { model: 'sandbox/priced', messages, max_tokens: 5 }
  const answer = await sendRequest(fixture().gateway, { key: customer.key, body })
  const cost = Number(answer.headers.get('x-tollgate-cost'))
  await eventually(
    async () => (await transactionsOf(fixture().gateway, customer, '?type=usage')).length === 1,
  )
  expect(await transactionsOf(fixture().gateway, customer)).toEqual([
    {
      id: expect.stringMatching(/^txn_/),
      type: 'usage',
      amount: -cost,
      currency: 'USD',
      balance_after: Number((2 - cost).toFixed(9)),
      description: 'Usage',
      status: 'completed',
      payer: 'personal',
      organization_id: null,
      reference_id: answer.headers.get('x-request-id'),
      request_count: 1,
      receipt_url: null,
      credit_notes: [],
      invoice: null,
      created_at: expect.any(String),
    },
    expect.objectContaining({
      type: 'bonus',
      amount: 2,
      description: 'Welcome',
      reference_id: null,
      request_count: null,
    }),
  ])
})

const nameOf = (one: Json) => (one['type'] === 'bonus' ? one['description'] : one['id'])

test('pages go on where the last one ended, through entries and checkouts alike', async () => {
  const customer = await fixture().newCustomer()
  const { userId } = customer
  const names: string[] = []
  for (let index = 0; index < 7; index++) {
    if (index % 3 === 2) {
      const id = `cs_${String(index).repeat(26)}`
      await fixture().sql`insert into payment (id, kind, account_id, user_id, amount)
        values (${id}, 'checkout', ${userId}, ${userId}, 5000000000)`
      names.unshift(id)
    } else {
      await grant({ user_id: userId, amount: 1, reason: String(index) })
      names.unshift(String(index))
    }
  }
  const seen: Json[] = []
  for (let path = '/transactions?limit=2'; path !== '';) {
    const answer = await read(customer, path)
    seen.push(...listIn(answer, 'transactions'))
    const { next_cursor: next, ...pagination } = objectIn(answer, 'pagination')
    expect(pagination).toEqual({ total: 7, limit: 2, offset: 0, has_more: next !== null })
    path = typeof next === 'string' ? `/transactions?limit=2&cursor=${next}` : ''
  }
  expect(seen.map(nameOf)).toEqual(names)
  const answer = await read(customer, '/transactions?limit=3&offset=2')
  expect(listIn(answer, 'transactions').map(nameOf)).toEqual(names.slice(2, 5))
  const { next_cursor: cursor } = objectIn(answer, 'pagination')
  const other = await read(customer, `/transactions?type=bonus&cursor=${String(cursor)}`)
  expect(problem(other)).toEqual([400, 'cursor', 'bad_format'])
})

const today = () => new Date().toISOString().slice(0, 10)

test('filters select by their fields', async () => {
  const firstDay = today()
  const customer = await fixture().newCustomer()
  const { userId } = customer
  await grant({ user_id: userId, amount: 3, reason: 'Welcome' })
  await fixture().gateway.admin('POST', '/credits/adjust', {
    user_id: userId,
    amount: -1,
    reason: 'Taken',
  })
  await fixture().sql`insert into payment (id, kind, account_id, user_id, amount, status)
    values (${`cs_${'z'.repeat(26)}`}, 'checkout', ${userId}, ${userId}, 5000000000, 'failed')`
  const kinds = async (query: string) =>
    (await transactionsOf(fixture().gateway, customer, query)).map(
      (one) => `${String(one['type'])} ${String(one['status'])}`,
    )
  expect(await kinds('?type=adjustment')).toEqual(['adjustment completed'])
  expect(await kinds('?status=failed')).toEqual(['purchase failed'])
  expect(await kinds('?status=failed&type=bonus')).toEqual([])
  expect(await kinds('?status=completed')).toEqual(['adjustment completed', 'bonus completed'])
  expect(await kinds(`?start_date=${firstDay}&end_date=${today()}`)).toHaveLength(3)
  expect(await kinds('?end_date=2020-01-01')).toEqual([])
  expect(await kinds('?start_date=2999-01-01T00:00:00%2B02:00')).toEqual([])
})

test.each([
  ['/transactions?type=gift', 'type', 'unknown_value'],
  ['/transactions?status=open', 'status', 'unknown_value'],
  ['/transactions?start_date=yesterday', 'start_date', 'bad_format'],
  [
    '/transactions?start_date=2026-01-02&end_date=2026-01-01T00:00:00Z',
    'start_date',
    'out_of_range',
  ],
  ['/transactions?limit=101', 'limit', 'out_of_range'],
  ['/metrics?period=1y', 'period', 'unknown_value'],
  ['/metrics?granularity=minute', 'granularity', 'unknown_value'],
  ['/metrics?start_date=2026-01-01', 'end_date', 'required'],
  ['/metrics?end_date=2026-01-01', 'start_date', 'required'],
  ['/metrics?start_date=2025-01-01&end_date=2026-01-02', 'end_date', 'out_of_range'],
  ['/metrics?start_date=2026-01-02&end_date=2026-01-01T00:00:00Z', 'start_date', 'out_of_range'],
  ['/metrics?start_date=2026-01-01&end_date=2026-01-02&period=7d', 'period', 'conflict'],
  [
    '/metrics?start_date=2026-01-01&end_date=2026-03-01&granularity=hour',
    'granularity',
    'out_of_range',
  ],
])('%s is rejected', async (path, param, issue) => {
  expect(problem(await read(await fixture().newCustomer(), path))).toEqual([400, param, issue])
})

test('an organization is for its managers; every other account receives 404', async () => {
  const { id, owner, member } = await newOrganization(fixture())
  const [admin, viewer] = [await member('admin'), await member('viewer')]
  const stranger = await fixture().newCustomer()
  await grant({ organization_id: id, amount: 9, reason: 'Welcome' })
  for (const path of ['/balance', '/transactions', '/metrics']) {
    const query = `${path}?organization_id=${id}`
    expect((await read(owner, query)).status).toBe(200)
    expect((await read(admin, query)).status).toBe(200)
    const low = await read(viewer, query)
    expect([low.status, low.error.details]).toEqual([
      403,
      { required: ['owner', 'admin'], current: ['viewer'] },
    ])
    const [foreign, unknown] = [
      await read(stranger, query),
      await read(stranger, `${path}?organization_id=org_1`),
    ]
    expect([foreign.status, foreign.error.code]).toEqual([404, 'resource_not_found'])
    expect(unknown.error).toEqual(foreign.error)
  }
  const { body } = await read(owner, `/transactions?organization_id=${id}`)
  expect(body['transactions']).toMatchObject([
    { type: 'bonus', amount: 9, payer: 'organization', organization_id: id },
  ])
  // One's own is another list.
  expect(await transactionsOf(fixture().gateway, owner)).toEqual([])
})

test('each reads its own, and only with a key that may read', async () => {
  const [one, other] = [await fixture().newCustomer(), await fixture().newCustomer()]
  await grant({ user_id: one.userId, amount: 4, reason: 'Welcome' })
  expect(await balanceOf(fixture().gateway, other)).toMatchObject({ balance: 0 })
  expect(await transactionsOf(fixture().gateway, other)).toEqual([])
  const writer = await fixture().gateway.customer({ permissions: ['write'] }, { credit: 0 })
  for (const path of ['/balance', '/transactions', '/metrics']) {
    const { status, error } = await read(writer, path)
    expect([status, error.details]).toEqual([403, { required: ['read'], current: ['write'] }])
  }
})
