import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import {
  waitForValue,
  createFundingFixture,
  price,
  priceNanos,
  type FundingFixture,
} from './fixture'
import { runCommand } from '../../harness/run-command'
import { completion } from '../../harness/byok'
import { sendOperatorRequest as operate } from '../../harness/operator'

/** 21.1, 21.3: what the pool of an organization pays for its members. */

let on: FundingFixture

beforeAll(async () => {
  on = await createFundingFixture()
})
afterAll(() => on[Symbol.asyncDispose]())
afterEach(async () => {
  const { gateway, upstream } = on.fixture
  gateway.recorder.verify()
  upstream.requests.length = 0
  upstream.answer = () => completion()
  const audited = await runCommand('audit', { DATA_DIR: gateway.dataDir })
  expect(audited).toMatchObject({ code: 0, err: '' })
})

const keysSeen = () =>
  on.fixture.upstream.requests.map(({ headers }) => headers.get('authorization'))

test('21.3: the pool pays for the platform’s connections, and the member nothing', async () => {
  const organization = await on.organization()
  const member = await on.funded(organization)
  await on.grant({ user_id: member.userId })
  const refused = await on.chat(member)
  expect([refused.status, refused.error.code]).toEqual([402, 'insufficient_credits'])
  expect(refused.error.details).toMatchObject({ current_balance: 0 })
  expect(on.fixture.upstream.requests).toEqual([])

  await on.grant({ organization_id: organization.id })
  const { status, headers } = await on.chat(member)
  expect([status, headers.get('x-tollgate-cost')]).toEqual([200, price.toFixed(6)])
  await waitForValue(() => on.poolOf(organization), 1 - price)
  expect(await on.balanceOf(member)).toBe(1)
  const { body } = await operate(
    on.fixture.gateway,
    `GET /transactions?organization_id=${organization.id}`,
  )
  expect(body['transactions']).toMatchObject([
    { type: 'usage', amount: -price, payer: 'organization', organization_id: organization.id },
    { type: 'bonus', amount: 1 },
  ])
  const events = await on.sql`
    select billing_mode, account_id, organization_id, price from usage_event
    where user_id = ${member.userId} and outcome = 'ok'`
  const { id } = organization
  expect([...events]).toEqual([
    { billing_mode: 'platform', account_id: id, organization_id: id, price: null },
  ])
})

test('6.2: a suspended member pays for itself from the next request on', async () => {
  const organization = await on.organization()
  const member = await on.funded(organization)
  await on.grant({ organization_id: organization.id })
  expect((await on.chat(member)).status).toBe(200)
  const at = `${organization.path}/members/${member.userId}`
  await on.api(organization.owner, `PUT ${at}`, { status: 'suspended' })
  const refused = await on.chat(member)
  expect([refused.status, refused.error.code]).toEqual([402, 'insufficient_credits'])
  await on.grant({ user_id: member.userId })
  expect((await on.chat(member)).status).toBe(200)
  await waitForValue(() => on.balanceOf(member), 1 - price)
  await waitForValue(() => on.poolOf(organization), 1 - price)
})

test('21.1: the connections of the organization that pays come before the member’s own', async () => {
  const organization = await on.organization()
  await organization.connection({ api_key: 'sk-theirs' })
  const member = await on.funded(organization)
  await on.api(member, 'POST /connections', {
    name: 'Mine',
    provider: 'fake',
    api_key: 'sk-mine',
    endpoint_url: on.fixture.upstream.url,
  })
  expect((await on.chat(member)).status).toBe(200)
  await on.api(member, 'PUT /account/settings', { funding_source: 'personal' })
  expect((await on.chat(member)).status).toBe(200)
  expect(keysSeen()).toEqual(['Bearer sk-theirs', 'Bearer sk-mine'])
})

test('a pool that requires a payment first rejects every member with 402', async () => {
  const organization = await on.organization()
  const member = await on.funded(organization)
  await on.grant({ organization_id: organization.id })
  await on.grant({ user_id: member.userId })
  await on.sql`
    update credit_account set payment_method_required = true where id = ${organization.id}`
  const code = async () => (await on.chat(member)).error.code
  await waitForValue(code, 'payment_required')
})

test('I7: many at once spend exactly the balance of the pool, to the nano-dollar', async () => {
  const organization = await on.roomy()
  const members = await Promise.all([1, 2, 3].map(() => on.funded(organization)))
  await on.grant({ organization_id: organization.id }, 0.05)
  const callers = Array.from({ length: 90 }, (_, at) => members[at % members.length])
  const answers = await Promise.all(
    callers.map((member) => (member ? on.chat(member) : Promise.reject(new Error('no member')))),
  )
  const served = answers.filter(({ status }) => status === 200).length
  expect(answers.filter(({ status }) => status === 402)).toHaveLength(90 - served)
  expect(served).toBeGreaterThan(0)
  const left = 50_000_000n - BigInt(served) * priceNanos
  expect(left).toBeGreaterThanOrEqual(0n)
  await waitForValue(() => on.poolOf(organization), Number(left) / 1e9)
  for (const member of members) expect(await on.balanceOf(member)).toBe(0)
})

test('3.1: a pool’s payment counts for the used key, and not for its account', async () => {
  const organization = await on.organization()
  const member = await on.funded(organization)
  await on.grant({ organization_id: organization.id })
  const users = `/users/${member.userId}`
  await operate(on.fixture.gateway, `PUT ${users}`, { limits: { monthly_spend: 0 } })
  expect((await on.chat(member)).status).toBe(200)
  const keys = `${users}/keys/${member.keyId}`
  await operate(on.fixture.gateway, `PUT ${keys}`, { monthly_spend_limit: 0.01 })
  await waitForValue(async () => (await on.chat(member)).status, 402)
  const { error } = await on.chat(member)
  expect(error.details?.['current_balance']).toBeLessThan(0.0042)
})
