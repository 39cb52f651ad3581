import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import {
  waitForValue,
  createGate,
  createFundingFixture,
  price,
  priceNanos,
  type FundingFixture,
} from './fixture'
import type { Organization } from '../../harness/organization'
import { completion } from '../../harness/byok'
import { messages, type Answer, type Json } from '../../harness/http'
import type { Customer } from '../../harness/server'
import { dayWaitMs, untilDayLasts } from '../../../server/testing/calendar'

/** 3.1: limits of an organization, which all its members share. */

let on: FundingFixture

beforeAll(async () => {
  await untilDayLasts()
  on = await createFundingFixture()
}, 60_000 + dayWaitMs)
afterAll(() => on[Symbol.asyncDispose]())
afterEach(() => {
  const { gateway, upstream } = on.fixture
  gateway.recorder.verify()
  upstream.requests.length = 0
  upstream.answer = () => completion()
})

const change = ({ owner, path }: Organization, fields: Json) => on.api(owner, `PUT ${path}`, fields)

const changeMember = ({ owner, path }: Organization, member: Customer, fields: Json) =>
  on.api(owner, `PUT ${path}/members/${member.userId}`, fields)

/** Returns one that pays its provider itself, and whose members have no credit. */
async function paying(): Promise<Organization> {
  const organization = await on.roomy()
  await organization.connection()
  return organization
}

/** Of three calls, one after the other. */
const served = async (by: Customer) => {
  const answers = [await on.chat(by), await on.chat(by), await on.chat(by)]
  return answers.map(({ status }) => status)
}

const codeOf = ({ status, error }: Answer) => [status, error.code]

const spentBy = async ({ path }: Organization, member: Customer) => {
  const { body } = await on.api(member, `GET ${path}/members`)
  const members = Array.isArray(body['members']) ? body['members'] : []
  return members.find((one) => one.user_id === member.userId)?.spent_this_month
}

describe('in a minute, and at once', () => {
  test('requests of all members count together, by connection and by pool; others are not held up', async () => {
    const organization = await on.roomy()
    await on.grant({ organization_id: organization.id })
    const [byPool, other] = [await on.funded(organization), await on.funded(organization)]
    await change(organization, { rate_limit_requests_per_minute: 3 })
    expect((await on.chat(byPool)).status).toBe(200)
    await organization.connection()
    expect((await on.chat(byPool)).status).toBe(200)
    expect((await on.chat(other)).status).toBe(200)
    const refused = await on.chat(byPool)
    expect(refused.error).toMatchObject({
      code: 'rate_limit_exceeded',
      details: { limit: 3, window: 60 },
    })
    expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 61)
    expect(refused.headers.get('x-ratelimit-limit')).toBe('3')
    // The member's own account pays: none of the organization's requests.
    await on.api(other, 'PUT /account/settings', { funding_source: 'personal' })
    await on.grant({ user_id: other.userId })
    expect((await on.chat(other)).status).toBe(200)
    await waitForValue(() => on.balanceOf(other), 1 - price)
  })

  test('tokens, and requests that never fit', async () => {
    const organization = await paying()
    const member = await organization.member()
    await change(organization, { rate_limit_tokens_per_minute: 100 })
    const tooLong = await on.chat(member, { max_tokens: 200 })
    expect(codeOf(tooLong)).toEqual([429, 'tokens_per_minute_exceeded'])
    expect(tooLong.error.details).toEqual({ limit: 100, used: 0 })
    expect(tooLong.headers.get('x-should-retry')).toBe('false')
    for (let count = 0; count < 5; count++) expect((await on.chat(member)).status).toBe(200)
    const refused = await on.chat(member, { max_tokens: 80 })
    // Each used 8 in the end, whatever was reserved.
    expect(refused.error.details).toEqual({ limit: 100, used: 40 })
  })

  test('a running request counts, until it ends', async () => {
    const organization = await paying()
    const [member, other] = [await organization.member(), await organization.member()]
    await change(organization, { max_concurrent_requests: 1 })
    const { open, answer } = createGate()
    on.fixture.upstream.answer = answer
    const first = on.chat(member)
    await waitForValue(async () => on.fixture.upstream.requests.length, 1)
    const refused = await on.chat(other)
    expect(codeOf(refused)).toEqual([429, 'rate_limit_exceeded'])
    expect(refused.error.details).toMatchObject({ limit: 1, window: 0 })
    open()
    expect((await first).status).toBe(200)
    await waitForValue(async () => (await on.chat(other)).status, 200)
  })

  test('3.1: a remaining connection of the caller’s own serves', async () => {
    const organization = await paying()
    const member = await organization.member()
    await on.grant({ user_id: member.userId })
    await change(organization, { rate_limit_requests_per_minute: 1 })
    expect((await on.chat(member)).status).toBe(200)
    // The platform's, which he pays.
    expect((await on.chat(member)).status).toBe(200)
    await waitForValue(() => on.balanceOf(member), 1 - price)
    const [event] = await on.sql`
      select passed_over from usage_event
      where user_id = ${member.userId} and billing_mode = 'platform'`
    expect(event.passed_over).toMatchObject([{ reason: 'rate_limit_exceeded' }])
  })

  test('a viewer’s calls and a suspended organization’s limits do not count', async () => {
    const organization = await paying()
    const member = await organization.member()
    await change(organization, { rate_limit_requests_per_minute: 1 })
    expect((await on.chat(member)).status).toBe(200)
    await on.sql`update organization set status = 'suspended' where id = ${organization.id}`
    await on.grant({ user_id: member.userId })
    await waitForValue(async () => (await on.chat(member)).status, 200)
  })
})

describe('in a month', () => {
  test('requests by the organization’s plan', async () => {
    const organization = await paying()
    const plan = await on.fixture.gateway.admin('POST', '/plans', {
      name: 'two a month',
      monthly_requests: 2,
    })
    await on.sql`update organization set plan_id = ${plan['id']} where id = ${organization.id}`
    const [member, other] = [await organization.member(), await organization.member()]
    // One that a candidate of another's served counts nothing here.
    expect((await on.chat(member, { model: 'sandbox/echo' })).status).toBe(200)
    expect((await on.chat(member)).status).toBe(200)
    expect((await on.chat(other)).status).toBe(200)
    const refused = await on.chat(member)
    expect(codeOf(refused)).toEqual([429, 'rate_limit_exceeded'])
    expect(refused.error.details?.['limit']).toBe(2)
    expect(refused.error.details?.['window']).toBeGreaterThan(2_000_000)
    const path = `/plans/${String(plan['id'])}`
    await on.fixture.gateway.admin('PUT', path, { monthly_requests: 3 })
    await waitForValue(async () => (await on.chat(member)).status, 200)
    await waitForValue(async () => (await on.chat(other)).status, 429)
  })

  test('21.3: the catalogue’s price counts for a member if the organization pays its provider', async () => {
    const organization = await paying()
    const [member, other] = [await organization.member(), await organization.member()]
    await changeMember(organization, member, { spending_limit: 0.01 })
    expect((await on.chat(member)).status).toBe(200)
    expect((await on.chat(member)).status).toBe(200)
    const refused = await on.chat(member)
    expect(codeOf(refused)).toEqual([402, 'insufficient_credits'])
    expect(refused.error.details?.['current_balance']).toBe(0.00399)
    expect(refused.error.details?.['minimum_required']).toBeGreaterThan(0.00399)
    expect((await on.chat(other)).status).toBe(200)
    await waitForValue(() => spentBy(organization, member), 2 * price)
    // Booked, and counted once all the same.
    expect(codeOf(await on.chat(member))).toEqual([402, 'insufficient_credits'])
    await changeMember(organization, member, { spending_limit: 0.02 })
    await waitForValue(async () => (await on.chat(member)).status, 200)
    expect(await on.poolOf(organization)).toBe(0)
  })

  test('the remainder lowers the output limit, as a balance does', async () => {
    const organization = await paying()
    const member = await organization.member()
    await changeMember(organization, member, { spending_limit: 0.3 })
    expect((await on.chat(member, { max_tokens: 5000 })).status).toBe(200)
    const sent = on.fixture.upstream.requests.at(-1)?.body['max_tokens']
    expect(sent).toBeWithin(256, 300)
  })

  test('the default limit of members without one of their own', async () => {
    const organization = await paying()
    const member = await organization.member()
    const rich = await organization.member()
    await changeMember(organization, rich, { spending_limit: 1 })
    await change(organization, { default_member_spending_limit: 0.01 })
    expect(await served(member)).toEqual([200, 200, 402])
    expect(await served(rich)).toEqual([200, 200, 200])
  })

  test('finding M23: a long prompt is held by its count where the limit does not cover its bytes', async () => {
    const organization = await paying()
    const member = await organization.member()
    await changeMember(organization, member, { spending_limit: 0.05 })
    const content = 'The organization pays for what its members write. '.repeat(1000)
    const long = { messages: [{ role: 'user', content }] }
    expect((await on.chat(member, long)).status).toBe(200)
    const other = await organization.member()
    await changeMember(organization, other, { spending_limit: 0.01 })
    expect(codeOf(await on.chat(other, long))).toEqual([402, 'insufficient_credits'])
  })

  test('the limit of the organization, for all members together, connections and pool', async () => {
    const organization = await on.roomy()
    await on.grant({ organization_id: organization.id })
    const [one, other] = [await on.funded(organization), await on.funded(organization)]
    await change(organization, { monthly_spend_limit: 0.01 })
    expect((await on.chat(one)).status).toBe(200)
    await organization.connection()
    expect((await on.chat(other)).status).toBe(200)
    for (const member of [one, other]) {
      const refused = await on.chat(member)
      expect(codeOf(refused)).toEqual([402, 'insufficient_credits'])
      expect(refused.error.details?.['current_balance']).toBe(0.00399)
    }
    await waitForValue(() => spentBy(organization, one), price)
    await waitForValue(() => spentBy(organization, other), price)
    await waitForValue(() => on.poolOf(organization), 1 - price)
  })

  test('a member’s own payments do not count', async () => {
    const organization = await on.roomy()
    await organization.connection({ billing_mode: 'member_pays' })
    const member = await organization.member()
    await on.grant({ user_id: member.userId })
    await change(organization, { monthly_spend_limit: 0, default_member_spending_limit: 0 })
    expect((await on.chat(member)).status).toBe(200)
    await waitForValue(() => on.balanceOf(member), 1 - price)
    expect(await spentBy(organization, member)).toBe(0)
  })

  test('many at once never spend more than the limit, to the nano-dollar', async () => {
    const organization = await paying()
    const member = await organization.member()
    await changeMember(organization, member, { spending_limit: 0.05 })
    const answers = await Promise.all(Array.from({ length: 60 }, () => on.chat(member)))
    const served = answers.filter(({ status }) => status === 200).length
    expect(served).toBeGreaterThan(0)
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(60 - served)
    const spent = BigInt(served) * priceNanos
    expect(spent).toBeLessThanOrEqual(50_000_000n)
    await waitForValue(() => spentBy(organization, member), Number(spent) / 1e9)
  })

  test('with a fee, the pool pays the fee, and the price counts', async () => {
    const { gateway } = on.fixture
    const organization = await paying()
    const member = await organization.member()
    await gateway.admin('PUT', '/config', { platform_fee_percent: 10 })
    await on.grant({ organization_id: organization.id })
    await changeMember(organization, member, { spending_limit: 0.01 })
    expect((await on.chat(member)).status).toBe(200)
    expect((await on.chat(member)).status).toBe(200)
    const refused = await on.chat(member)
    expect(refused.error.details?.['current_balance']).toBe(0.00399)
    await gateway.admin('PUT', '/config', { platform_fee_percent: 0 })
    await waitForValue(
      () => on.poolOf(organization),
      Number(1_000_000_000n - priceNanos / 5n) / 1e9,
    )
    await waitForValue(() => spentBy(organization, member), 2 * price)
  })
})

test('streams count like whole answers', async () => {
  const organization = await paying()
  const member = await organization.member()
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
  const lines = [
    { ...chunk, choices: [{ index: 0, delta: { content: 'Hello.' } }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { ...chunk, choices: [], usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 } },
  ].map((one) => `data: ${JSON.stringify(one)}\n\n`)
  on.fixture.upstream.answer = () =>
    new Response(`${lines.join('')}data: [DONE]\n\n`, {
      headers: { 'content-type': 'text/event-stream' },
    })
  await changeMember(organization, member, { spending_limit: 0.01 })
  for (const status of [200, 200, 402]) {
    expect((await on.chat(member, { messages, stream: true })).status).toBe(status)
  }
  await waitForValue(() => spentBy(organization, member), 2 * price)
})
