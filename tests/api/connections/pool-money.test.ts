import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { newOrganization, type Organization } from '../../harness/organization'
import { call, createModelFixture, type Fixture } from '../../harness/byok'
import { runCommand } from '../../harness/run-command'
import { sendRequest, messages, type Json } from '../../harness/http'
import { sendOperatorRequest as operate, problem } from '../../harness/operator'
import type { Customer } from '../../harness/server'
import { eventsOf } from '../../providers/translated/front'
import { eventually } from '../../../server/testing/eventually'

/** What organizations earn and spend: 21.3, with a fee, from the operator's grant to the audit. */

let fixture: Fixture

// A request of 5 tokens and 3 costs 17,000 nano-dollars; of the fee's 467.5 the half is left out.
const [price, fee] = [0.000017, 0.000000467]

beforeAll(async () => {
  fixture = await createModelFixture()
  await fixture.gateway.admin('PUT', '/config', { platform_fee_percent: 2.75 })
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(async () => {
  fixture.reset()
  const audited = await runCommand('audit', { DATA_DIR: fixture.gateway.dataDir })
  expect(audited).toMatchObject({ code: 0, err: '' })
})

const admin = (request: string, body?: Json) => operate(fixture.gateway, request, body)

const chat = (by: Customer, fields: Json = {}) =>
  sendRequest(fixture.gateway, { key: by.key, body: { model: 'fake/one', messages, ...fields } })

const grant = (target: Json, amount = 1) =>
  admin('POST /credits/grant', { ...target, amount, reason: 'For the test.' })

const userBalance = async ({ userId }: Customer) => {
  const { body } = await admin(`GET /users/${userId}`)
  return Number(body['balance'])
}
const poolBalance = async ({ owner, path }: Organization) => {
  const { body } = await call(fixture.gateway, owner, `GET ${path}`)
  return Number(body['credit_balance'])
}

/** Usage is booked a moment after its answer. */
const becomes = (balance: () => Promise<number>, wanted: number) =>
  eventually(async () => (await balance()) === wanted)

/** What the operator sees of one account's movements, the newest first. */
async function movements(filter: string): Promise<Json[]> {
  const { body } = await admin(`GET /transactions?${filter}`)
  return Array.isArray(body['transactions']) ? body['transactions'] : []
}

const chunks = (...texts: string[]) => {
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
  const textChunks = texts.map((content) => ({
    ...chunk,
    choices: [{ index: 0, delta: { content } }],
  }))
  const end = { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
  const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
  return eventsOf(...textChunks, end, { ...chunk, choices: [], usage }, '[DONE]')
}

test('21.3: members who pay are charged the catalogue’s price, and the pool earns it minus the fee', async () => {
  const organization = await newOrganization(fixture)
  await organization.connection({ billing_mode: 'member_pays' })
  const member = await organization.member()
  const refused = await chat(member)
  expect([refused.status, refused.error.code]).toEqual([402, 'insufficient_credits'])
  expect(fixture.upstream.requests).toEqual([])

  await grant({ user_id: member.userId })
  const { status, headers } = await chat(member)
  expect([status, headers.get('x-tollgate-cost')]).toEqual([200, price.toFixed(6)])
  await becomes(() => userBalance(member), 1 - price)
  await becomes(() => poolBalance(organization), 0.000016533)

  fixture.upstream.answer = () => chunks('Hel', 'lo.')
  expect((await chat(member, { stream: true })).status).toBe(200)
  await becomes(() => userBalance(member), 0.999966)
  await becomes(() => poolBalance(organization), 0.000033066)

  const earned = await movements(`organization_id=${organization.id}`)
  expect(earned).toMatchObject([
    { type: 'usage', amount: 0.000016533, balance_after: 0.000033066 },
    { type: 'usage', amount: 0.000016533, balance_after: 0.000016533 },
  ])
  for (const movement of earned) {
    expect(movement).toMatchObject({ payer: 'organization', organization_id: organization.id })
    expect(movement).not.toHaveProperty('user_id')
  }
  const [spent] = await movements(`user_id=${member.userId}`)
  expect(spent).toMatchObject({ payer: 'personal', user_id: member.userId, amount: -price })
  expect(spent).not.toHaveProperty('organization_id')
})

test('21.3: a pool that the operator filled pays the fee of its members’ requests', async () => {
  const organization = await newOrganization(fixture)
  await organization.connection({ billing_mode: 'org_pays' })
  const member = await organization.member()
  await grant({ user_id: member.userId })
  const refused = await chat(member)
  expect(refused.status).toBe(402)

  const granted = await grant({ organization_id: organization.id }, 2)
  expect(granted.status).toBe(201)
  expect(granted.body).toMatchObject({
    type: 'bonus',
    amount: 2,
    balance_after: 2,
    status: 'completed',
    payer: 'organization',
    organization_id: organization.id,
    description: 'For the test.',
  })
  // At once, on the node that granted it.
  expect((await chat(member)).status).toBe(200)
  await becomes(() => poolBalance(organization), 2 - fee)
  expect(await userBalance(member)).toBe(1)
})

test('19: the operator takes at most its balance from a pool', async () => {
  const { id } = await newOrganization(fixture)
  const adjust = (amount: number) =>
    admin('POST /credits/adjust', { organization_id: id, amount, reason: 'A mistake.' })
  await grant({ organization_id: id })
  const taken = await adjust(-0.25)
  expect(taken.body).toMatchObject({ type: 'adjustment', amount: -0.25, balance_after: 0.75 })
  expect(problem(await adjust(-1))).toEqual([400, 'amount', 'out_of_range'])
  expect(await movements(`organization_id=${id}`)).toMatchObject([
    { type: 'adjustment', balance_after: 0.75 },
    { type: 'bonus', balance_after: 1 },
  ])
})

test('19: credits go to exactly one existing account or organization', async () => {
  const { id, owner } = await newOrganization(fixture)
  const unknown = `org_${'0'.repeat(26)}`
  expect(problem(await grant({}))).toEqual([400, 'user_id', 'required'])
  const both = { user_id: owner.userId, organization_id: id }
  expect(problem(await grant(both))).toEqual([400, 'organization_id', 'conflict'])
  for (const wrong of [unknown, owner.userId, 'house:promo']) {
    expect(problem(await grant({ organization_id: wrong }))).toEqual([
      404,
      'organization_id',
      undefined,
    ])
  }
  expect(problem(await grant({ user_id: id }))).toEqual([404, 'user_id', undefined])
  const mixed = await admin(`GET /transactions?user_id=${owner.userId}&organization_id=${id}`)
  expect(problem(mixed)).toEqual([400, 'organization_id', 'conflict'])
  await grant({ organization_id: id })
  expect(await movements(`user_id=${id}`)).toEqual([])
  expect(await movements('organization_id=house:promo')).toEqual([])
})
