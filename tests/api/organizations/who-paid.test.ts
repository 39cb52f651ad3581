import { afterAll, beforeAll, expect, test } from 'bun:test'
import { listIn } from '../alerts/fixture'
import type { Json } from '../../harness/http'
import type { Organization } from '../../harness/organization'
import type { Customer } from '../../harness/server'
import { dayWaitMs, untilDayLasts } from '../../../server/testing/calendar'
import {
  createFundingFixture,
  price,
  waitForValue,
  type FundingFixture,
} from '../../money/funding/fixture'

/** B1: spend is shown by who caused it, beside who paid it. */

let on: FundingFixture
let organization: Organization
let member: Customer
let name: unknown

const two = Number((2 * price).toFixed(9))
const rest = Number((5 - two).toFixed(9))

const read = async (path: string, by = member) => (await on.api(by, `GET ${path}`)).body
const paidBy = () => ({
  payer: 'organization',
  organization_id: organization.id,
  payer_name: name,
  cost: two,
})

/** Counts the logs of an account, which are written apart from what is booked. */
const loggedRequests = async (by: Customer) =>
  (await read('/account/request-logs/stats', by))['total_requests']

beforeAll(async () => {
  await untilDayLasts()
  on = await createFundingFixture()
  organization = await on.roomy()
  const limit = { default_member_spending_limit: 5 }
  const changed = await on.api(organization.owner, `PUT ${organization.path}`, limit)
  name = changed.body['name']
  await on.grant({ organization_id: organization.id })
  member = await on.funded(organization)
  for (const call of [await on.chat(member), await on.chat(member)]) expect(call.status).toBe(200)
  await waitForValue(async () => (await read('/user/quota/status'))['usage_cost'], two)
  await waitForValue(() => loggedRequests(member), 2)
}, 30_000 + dayWaitMs)
afterAll(async () => {
  on.fixture.gateway.recorder.verify()
  await on[Symbol.asyncDispose]()
})

test('finding B1: quota shows a member’s usage, its payer, and the rest of the limit there', async () => {
  const { quotas, ...status } = await read('/user/quota/status')
  expect(status).toMatchObject({
    usage_cost: two,
    by_payer: [paidBy()],
    organizations: [
      {
        organization_id: organization.id,
        organization_name: name,
        funds_platform_models: true,
        limit: 5,
        used: two,
        remaining: rest,
        percentage: 0.12,
      },
    ],
  })
  expect(quotas).toContainEqual(expect.objectContaining({ type: 'monthly_spend', used: 0 }))
  const [today] = listIn(await on.api(member, 'GET /user/quota/history'), 'history')
  expect(today).toMatchObject({ requests: 2, cost: 0, usage_cost: two, percentage: 0.12 })
})

test('finding B1: metrics have both amounts, in sums, by model, over time and ahead', async () => {
  const metrics = await read('/billing/metrics?period=24h')
  expect(metrics).toMatchObject({
    summary: { total_requests: 2, total_cost: 0, usage_cost: two },
    by_payer: [paidBy()],
    by_model: [{ model: 'fake/one', cost: 0, usage_cost: two, usage_percentage: 100 }],
    projections: { next_30_days: 0, usage: { next_30_days: two } },
  })
  const series: Json[] = Object(metrics['time_series'])
  expect(series.reduce((sum, one) => sum + Number(one['usage_cost']), 0)).toBeCloseTo(two, 9)
  const pool = await read(
    `/billing/metrics?period=24h&organization_id=${organization.id}`,
    organization.owner,
  )
  expect(pool).toMatchObject({
    summary: { total_cost: two, usage_cost: two },
    by_payer: [paidBy()],
  })
})

const today = new Date().toISOString().slice(0, 10)
const yesterday = new Date(Date.parse(today) - 86_400_000).toISOString().slice(0, 10)

test('usage is broken down for the member by key, for the organization by member, for operators by account', async () => {
  const span = `start_date=${yesterday}&end_date=${today}`
  const byKey = await read(`/billing/breakdown?${span}&group_by=key&split_by=model`)
  expect(byKey).toMatchObject({
    total: { requests: 2, cost: 0, usage_cost: two },
    groups: [{ split: { id: 'fake/one' }, requests: 2, cost: 0, usage_cost: two }],
    other: null,
  })
  const ofPool = `/billing/breakdown?${span}&organization_id=${organization.id}&group_by=member`
  expect(await read(ofPool, organization.owner)).toMatchObject({
    total: { cost: two, usage_cost: two },
    groups: [{ group: { id: member.userId }, split: null, usage_cost: two }],
  })
  expect((await on.api(member, `GET ${ofPool}`)).status).toBe(403)
  const stranger = await on.fixture.newCustomer()
  expect((await on.api(stranger, `GET ${ofPool}`)).status).toBe(404)
  const { gateway } = on.fixture
  const ofAll = await gateway.admin('GET', `/usage/breakdown?${span}&group_by=account`)
  expect(ofAll['groups']).toContainEqual(
    expect.objectContaining({
      group: expect.objectContaining({ id: member.userId }),
      usage_cost: two,
    }),
  )
  expect(await read(`/billing/breakdown?${span}&group_by=key&unknown=1`)).toMatchObject({
    error: { code: 'invalid_request', message: expect.stringContaining('unknown') },
  })
})

test('finding B1, B2: logs, their sums, models and estimates name the payer', async () => {
  const payer = { payer: 'organization', payer_name: name }
  const logs = listIn(await on.api(member, 'GET /account/request-logs'), 'logs')
  expect(logs).toMatchObject([payer, payer])
  expect(await read(`/account/request-logs/${String(logs[0]?.['id'])}/details`)).toMatchObject({
    ...payer,
    billing_mode: 'platform',
    organization_id: organization.id,
    organization_name: name,
  })
  expect(await read('/account/request-logs/stats')).toMatchObject({
    total_cost: two,
    by_payer: [{ ...paidBy(), requests: 2 }],
  })
  expect(await read('/models/fake/one')).toMatchObject({ billing_mode: 'platform', ...payer })
  const question = { model: 'fake/one', input_tokens: 1, output_tokens: 1 }
  const estimate = await on.api(member, 'POST /user/quota/estimate-cost', question)
  expect(estimate.body).toMatchObject(payer)
})

test('finding B1: members are listed with the limit that applies, and its rest', async () => {
  const members = listIn(
    await on.api(organization.owner, `GET ${organization.path}/members`),
    'members',
  )
  const listed = members.find((one) => one['user_id'] === member.userId)
  expect(listed).toMatchObject({
    spending_limit: null,
    effective_spending_limit: 5,
    spent_this_month: two,
    remaining_this_month: rest,
  })
  const [used] = Object((await read(`${organization.path}/usage`))['usage']).by_user
  expect(used).toMatchObject({ cost_usd: two, charged_usd: two, counted_usd: two })
})

test('finding B1: a member’s own payments stay its own, and other accounts see neither', async () => {
  const own = await on.fixture.newCustomer()
  await on.grant({ user_id: own.userId })
  expect((await on.chat(own)).status).toBe(200)
  const status = () => read('/user/quota/status', own)
  await waitForValue(async () => (await status())['usage_cost'], price)
  await waitForValue(() => loggedRequests(own), 1)
  const personal = { payer: 'personal', organization_id: null, payer_name: null }
  expect(await status()).toMatchObject({
    by_payer: [{ ...personal, cost: price }],
    organizations: [],
  })
  expect(await read('/billing/metrics', own)).toMatchObject({
    summary: { total_cost: price, usage_cost: price },
  })
  expect(await read('/account/request-logs/stats', own)).toMatchObject({
    by_payer: [{ ...personal, requests: 1, cost: price }],
  })
  expect(await read('/models/fake/one', own)).toMatchObject({ payer: 'personal', payer_name: null })
})

test('finding B1: costs that the operator bears are named so, and count in no pool', async () => {
  const { gateway } = on.fixture
  const { id: plan_id } = await gateway.admin('POST', '/plans', { name: 'ours', house_pays: true })
  const house = await gateway.customer({}, { plan_id: String(plan_id) })
  expect((await on.chat(house)).status).toBe(200)
  const status = () => read('/user/quota/status', house)
  await waitForValue(async () => (await status())['usage_cost'], price)
  await waitForValue(() => loggedRequests(house), 1)
  const operator = { payer: 'operator', organization_id: null, payer_name: null, cost: price }
  expect(await status()).toMatchObject({ by_payer: [operator] })
  expect(await read('/account/request-logs/stats', house)).toMatchObject({ by_payer: [operator] })
  expect(await read('/models/fake/one', house)).toMatchObject({ payer: 'operator' })
})
