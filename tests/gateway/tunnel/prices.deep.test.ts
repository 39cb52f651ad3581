import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { event, streamOf, type Frame } from '../../harness/tunnel-agent'
import { createPricedFixture, type PricedFixture } from './prices'
import { readCutStream, waitForValue } from './fixture'
import { openDatabase } from '../../harness/database'
import { problem } from '../../harness/byok'
import type { Json } from '../../harness/http'

/** What owners charge for models that only their connections have: 9.1, 21.3. */

let fixture: PricedFixture

// 5 tokens in and 3 out at 1 and 4 USD a million; of the fee's 467.5 nano-dollars the half is left out.
const [cost, earned] = [0.000017, 0.000016533]
const usual = { input: 1, output: 4 }
const limit = 1000

beforeAll(async () => {
  fixture = await createPricedFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(async () => {
  fixture.serving.answer = (request) => fixture.serving.whole(request)
  await fixture.operator({ owner_price_limits: { input: limit, output: limit } })
  await fixture.payBy('member_pays')
  await fixture.price(null)
  await fixture.audited()
})

const requestCount = () => fixture.serving.seen('request').length

/** What requests were booked, by all of which a test looks at its own. */
async function booked(requestId: string | null): Promise<Json> {
  await using sql = await openDatabase(fixture.gateway.dataDir)
  const read = () => sql`
    select outcome, cost::text, billing_mode, organization_id from usage_event
    where request_id = ${requestId}`
  await waitForValue(async () => (await read()).length, 1)
  return { ...(await read())[0] }
}

const idOf = ({ headers }: { headers: Headers }) => headers.get('x-request-id')

test('without a price it is free, also for accounts without credit', async () => {
  const member = await fixture.member()
  const { status, headers } = await fixture.chat(member)
  expect([status, headers.get('x-tollgate-cost')]).toEqual([200, '0'])
  expect(await booked(headers.get('x-request-id'))).toMatchObject({
    billing_mode: 'free',
    cost: '0',
  })
})

test('a member pays the configured price, and the pool receives it minus the fee', async () => {
  const [poor, member, before] = [
    await fixture.member(),
    await fixture.member(1),
    await fixture.pool(),
  ]
  const set = await fixture.price(usual)
  expect([set.status, set.body]).toMatchObject([
    200,
    { id: 'fake/mine', name: 'mine', in_catalogue: false, is_limited: false, pricing: usual },
  ])
  const soFar = requestCount()
  const refused = await fixture.chat(poor)
  expect([refused.status, refused.error.code]).toEqual([402, 'insufficient_credits'])
  expect(requestCount()).toBe(soFar)

  const plain = await fixture.chat(member)
  expect([plain.status, plain.headers.get('x-tollgate-cost')]).toEqual([200, cost.toFixed(6)])
  expect(await booked(idOf(plain))).toEqual({
    outcome: 'ok',
    cost: '17000',
    billing_mode: 'member_pays',
    organization_id: fixture.organization.id,
  })
  await waitForValue(() => fixture.balance(member), 1 - cost)
  await waitForValue(() => fixture.pool(), Math.round((before + earned) * 1e9) / 1e9)
  fixture.serving.answer = (request) => fixture.serving.stream(request, streamOf('a', 'b', 'c'))
  const stream = await fixture.stream(member)
  expect(stream.isDone).toBe(true)
  expect(await booked(idOf(stream))).toMatchObject({ outcome: 'ok', cost: '17000' })
  await waitForValue(() => fixture.balance(member), 1 - 2 * cost)
  await waitForValue(() => fixture.pool(), Math.round((before + 2 * earned) * 1e9) / 1e9)
})

test('an answer is as long as its caller can pay', async () => {
  // About 2,100 tokens of prompt at most cost 2.1 thousandths, and 256 of an answer a thousandth more.
  const member = await fixture.member(0.01)
  await fixture.price(usual)
  const { status } = await fixture.chat(member, { max_tokens: 50_000 })
  expect(status).toBe(200)
  const sent = Object(fixture.serving.seen('request').at(-1)?.['body'])
  expect(sent.max_tokens).toBeWithin(256, 2500)
})

test('a request keeps the price that it began with', async () => {
  const member = await fixture.member(1)
  await fixture.price(usual)
  const { promise: begun, resolve } = Promise.withResolvers<Frame>()
  const [first = '', ...rest] = streamOf('a', 'b', 'c')
  fixture.serving.answer = (request) => {
    fixture.serving.send({ type: 'chunk', id: request.id, data: first })
    resolve(request)
  }
  const running = fixture.stream(member)
  const { id } = await begun
  await fixture.price({ input: 100, output: 400 })
  for (const data of rest) fixture.serving.send({ type: 'chunk', id, data })
  fixture.serving.send({ type: 'response', id, status: 200 })
  const stream = await running
  expect(await booked(idOf(stream))).toMatchObject({ outcome: 'ok', cost: '17000' })
  fixture.serving.answer = (request) => fixture.serving.whole(request)
  const next = await fixture.chat(member)
  expect(await booked(idOf(next))).toMatchObject({ outcome: 'ok', cost: '1700000' })
})

test('a gateway that dies in the middle of a stream is paid for the relayed part, once', async () => {
  const member = await fixture.member(1)
  await fixture.price(usual)
  fixture.serving.answer = ({ id }) => {
    for (let at = 0; at < 20; at++) {
      const content = `word after word ${at} `
      fixture.serving.send({ type: 'chunk', id, data: event({ content }) })
    }
  }
  const cut = await readCutStream(fixture, {
    by: member,
    mark: 'word 19 ',
    cut: () => fixture.serving.kill(),
    fields: { max_tokens: 100 },
  })
  expect([cut.error.code, cut.isDone]).toEqual(['connection_failed', false])
  const row = await booked(idOf(cut))
  expect(row).toMatchObject({ outcome: 'connection_failed', billing_mode: 'member_pays' })
  expect(Number(row['cost'])).toBeWithin(100_000, 500_000)
  await waitForValue(() => fixture.balance(member), (1e9 - Number(row['cost'])) / 1e9)
  // It comes back without the model, and has it again later: at its price, not for nothing.
  const agent = fixture.agent(fixture.gatewayOf, {
    hello: { version: '1', providers: ['fake'], models: [], tools: [] },
  })
  fixture.serving = await agent.ready()
  expect((await fixture.chat(member)).status).toBe(404)
  const models = [{ provider: 'fake', name: 'mine' }]
  agent.hello({ version: '1', providers: ['fake'], models, tools: [] })
  await waitForValue(async () => (await fixture.chat(member)).status, 200)
  const again = await fixture.chat(member)
  expect(await booked(idOf(again))).toMatchObject({ cost: '17000' })
})

test("the operator's maximum limits a price when it is set, and the charge if it is lower later", async () => {
  const member = await fixture.member(1)
  const set = (pricing: Json) => fixture.price(pricing)
  expect(problem(await set({ input: 1001, output: 4 }))).toEqual([
    400,
    'pricing.input',
    'out_of_range',
  ])
  expect(problem(await set({ ...usual, reasoning: 1000.000000001 }))).toEqual([
    400,
    'pricing.reasoning',
    'out_of_range',
  ])
  expect((await set({ input: 1000, output: 1000, cached_input: 1000 })).status).toBe(200)
  await set(usual)
  await fixture.operator({ owner_price_limits: { output: 2 } })
  await waitForValue(async () => {
    const { headers } = await fixture.chat(member)
    return headers.get('x-tollgate-cost')
  }, '0.000011')
  const { body } = await fixture.api(
    fixture.organization.owner,
    `GET /connections/${fixture.connectionId}/models`,
  )
  expect(body['models']).toContainEqual(
    expect.objectContaining({
      id: 'fake/mine',
      is_limited: true,
      pricing: expect.objectContaining({ input: 1, output: 2 }),
    }),
  )
  await fixture.operator({ owner_price_limits: { input: 0 } })
  await waitForValue(async () => (await fixture.chat(member)).headers.get('x-tollgate-cost'), '0')
  expect(problem(await set(usual))).toEqual([400, 'pricing', 'not_allowed'])
})

test('the organization’s payment moves only the fee, out of its pool', async () => {
  const [member, before] = [await fixture.member(), await fixture.pool()]
  await fixture.price(usual)
  await fixture.payBy('org_pays')
  const { admin } = fixture.gateway
  const organization_id = fixture.organization.id
  await admin('POST', '/credits/grant', { organization_id, amount: 1, reason: 'test' })
  const { status, headers } = await fixture.chat(member)
  expect(status).toBe(200)
  expect(await booked(headers.get('x-request-id'))).toMatchObject({
    billing_mode: 'org_pays',
    cost: '467',
  })
  await waitForValue(() => fixture.pool(), Math.round((before + 1 - 0.000000467) * 1e9) / 1e9)
})

test('with the payer’s own gateway it is the fee alone as well', async () => {
  const { owner, agent } = await fixture.served()
  const list = await fixture.api(owner, 'GET /connections')
  const [{ id }] = Array.isArray(list.body['connections']) ? list.body['connections'] : []
  const path = `PUT /connections/${id}/models/pricing`
  const set = await fixture.api(owner, path, { model: 'fake/mine', pricing: usual })
  expect(set.status).toBe(200)
  expect((await fixture.chat(owner)).status).toBe(402)
  const { admin } = fixture.gateway
  const { userId: user_id } = owner
  await admin('POST', '/credits/grant', { user_id, amount: 1, reason: 'test' })
  const { headers } = await fixture.chat(owner)
  expect(headers.get('x-tollgate-cost')).toBe('0.000000467')
  agent.kill()
})
