import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { event, streamOf, type Frame } from './agent-for-tests'
import { openPricedStage, type PricedStage } from './prices'
import { becomes } from './stage'
import { openDatabase } from '../database'
import { problem } from '../connections/stage'
import type { Json } from '../faults/asking'

/** What owners charge for models that only their connections have: 9.1, 21.3. */

setDefaultTimeout(30_000)

let stage: PricedStage

// 5 tokens in and 3 out at 1 and 4 USD a million; of the fee's 467.5 nano-dollars the half is left out.
const [cost, earned] = [0.000017, 0.000016533]
const usual = { input: 1, output: 4 }
const limit = 1000

beforeAll(async () => {
  stage = await openPricedStage()
})
afterAll(() => stage[Symbol.asyncDispose]())
afterEach(async () => {
  stage.serving.answer = (request) => stage.serving.whole(request)
  await stage.operator({ owner_price_limits: { input: limit, output: limit } })
  await stage.payBy('member_pays')
  await stage.price(null)
  await stage.audited()
})

const asked = () => stage.serving.seen('request').length

/** What requests were booked, by all of which a test looks at its own. */
async function booked(requestId: string | null): Promise<Json> {
  await using sql = await openDatabase(stage.gateway.dataDir)
  const read = () => sql`
    select outcome, cost::text, billing_mode, organization_id from usage_event
    where request_id = ${requestId}`
  await becomes(async () => (await read()).length, 1)
  return { ...(await read())[0] }
}

const idOf = ({ headers }: { headers: Headers }) => headers.get('x-request-id')

test('without a price it is free, also for who has nothing', async () => {
  const member = await stage.member()
  const { status, headers } = await stage.chat(member)
  expect([status, headers.get('x-tollgate-cost')]).toEqual([200, '0'])
  expect(await booked(headers.get('x-request-id'))).toMatchObject({
    billing_mode: 'free',
    cost: '0',
  })
})

test('a member pays the price that was set, and the pool gets it less the fee', async () => {
  const [poor, member, before] = [await stage.member(), await stage.member(1), await stage.pool()]
  const set = await stage.price(usual)
  expect([set.status, set.body]).toMatchObject([
    200,
    { id: 'fake/mine', name: 'mine', in_catalogue: false, is_limited: false, pricing: usual },
  ])
  const soFar = asked()
  const refused = await stage.chat(poor)
  expect([refused.status, refused.error.code]).toEqual([402, 'insufficient_credits'])
  expect(asked()).toBe(soFar)

  const plain = await stage.chat(member)
  expect([plain.status, plain.headers.get('x-tollgate-cost')]).toEqual([200, cost.toFixed(6)])
  expect(await booked(idOf(plain))).toEqual({
    outcome: 'ok',
    cost: '17000',
    billing_mode: 'member_pays',
    organization_id: stage.organization.id,
  })
  await becomes(() => stage.balance(member), 1 - cost)
  await becomes(() => stage.pool(), Math.round((before + earned) * 1e9) / 1e9)
  stage.serving.answer = (request) => stage.serving.stream(request, streamOf('a', 'b', 'c'))
  const stream = await stage.stream(member)
  expect(stream.isDone).toBe(true)
  expect(await booked(idOf(stream))).toMatchObject({ outcome: 'ok', cost: '17000' })
  await becomes(() => stage.balance(member), 1 - 2 * cost)
  await becomes(() => stage.pool(), Math.round((before + 2 * earned) * 1e9) / 1e9)
})

test('an answer is as long as its caller can pay', async () => {
  // About 2,100 tokens of prompt at most cost 2.1 thousandths, and 256 of an answer a thousandth more.
  const member = await stage.member(0.01)
  await stage.price(usual)
  const { status } = await stage.chat(member, { max_tokens: 50_000 })
  expect(status).toBe(200)
  const sent = Object(stage.serving.seen('request').at(-1)?.['body'])
  expect(sent.max_tokens).toBeWithin(256, 2500)
})

test('a request keeps the price that it began with', async () => {
  const member = await stage.member(1)
  await stage.price(usual)
  const { promise: begun, resolve } = Promise.withResolvers<Frame>()
  const [first = '', ...rest] = streamOf('a', 'b', 'c')
  stage.serving.answer = (request) => {
    stage.serving.send({ type: 'chunk', id: request.id, data: first })
    resolve(request)
  }
  const running = stage.stream(member)
  const { id } = await begun
  await stage.price({ input: 100, output: 400 })
  for (const data of rest) stage.serving.send({ type: 'chunk', id, data })
  stage.serving.send({ type: 'response', id, status: 200 })
  const stream = await running
  expect(await booked(idOf(stream))).toMatchObject({ outcome: 'ok', cost: '17000' })
  stage.serving.answer = (request) => stage.serving.whole(request)
  const next = await stage.chat(member)
  expect(await booked(idOf(next))).toMatchObject({ outcome: 'ok', cost: '1700000' })
})

test('a gateway that dies in the middle of a stream: what was relayed, once', async () => {
  const member = await stage.member(1)
  await stage.price(usual)
  stage.serving.answer = ({ id }) => {
    for (let at = 0; at < 20; at++) {
      stage.serving.send({ type: 'chunk', id, data: event({ content: 'word after word ' }) })
    }
    setTimeout(() => stage.serving.kill(), 300)
  }
  const cut = await stage.stream(member, { max_tokens: 100 })
  expect([cut.error.code, cut.isDone]).toEqual(['connection_failed', false])
  const row = await booked(idOf(cut))
  expect(row).toMatchObject({ outcome: 'connection_failed', billing_mode: 'member_pays' })
  expect(Number(row['cost'])).toBeWithin(100_000, 500_000)
  await becomes(() => stage.balance(member), (1e9 - Number(row['cost'])) / 1e9)
  // It comes back without the model, and has it again later: at its price, not for nothing.
  const agent = stage.agent(stage.gatewayOf, {
    hello: { version: '1', providers: ['fake'], models: [], tools: [] },
  })
  stage.serving = await agent.ready()
  expect((await stage.chat(member)).status).toBe(404)
  const models = [{ provider: 'fake', name: 'mine' }]
  agent.hello({ version: '1', providers: ['fake'], models, tools: [] })
  await becomes(async () => (await stage.chat(member)).status, 200)
  const again = await stage.chat(member)
  expect(await booked(idOf(again))).toMatchObject({ cost: '17000' })
})

test('what the operator allows is asked when a price is set, and charged when it is less by now', async () => {
  const member = await stage.member(1)
  const set = (pricing: Json) => stage.price(pricing)
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
  await stage.operator({ owner_price_limits: { output: 2 } })
  await becomes(async () => {
    const { headers } = await stage.chat(member)
    return headers.get('x-tollgate-cost')
  }, '0.000011')
  const { body } = await stage.api(
    stage.organization.owner,
    `GET /connections/${stage.connectionId}/models`,
  )
  expect(body['models']).toContainEqual(
    expect.objectContaining({
      id: 'fake/mine',
      is_limited: true,
      pricing: expect.objectContaining({ input: 1, output: 2 }),
    }),
  )
  await stage.operator({ owner_price_limits: { input: 0 } })
  await becomes(async () => (await stage.chat(member)).headers.get('x-tollgate-cost'), '0')
  expect(problem(await set(usual))).toEqual([400, 'pricing', 'not_allowed'])
})

test('where the organization pays, the price moves only the fee, out of its pool', async () => {
  const [member, before] = [await stage.member(), await stage.pool()]
  await stage.price(usual)
  await stage.payBy('org_pays')
  const { admin } = stage.gateway
  const organization_id = stage.organization.id
  await admin('POST', '/credits/grant', { organization_id, amount: 1, reason: 'test' })
  const { status, headers } = await stage.chat(member)
  expect(status).toBe(200)
  expect(await booked(headers.get('x-request-id'))).toMatchObject({
    billing_mode: 'org_pays',
    cost: '467',
  })
  await becomes(() => stage.pool(), Math.round((before + 1 - 0.000000467) * 1e9) / 1e9)
})

test('with one’s own gateway it is the fee alone as well', async () => {
  const { owner, agent } = await stage.served()
  const list = await stage.api(owner, 'GET /connections')
  const [{ id }] = Array.isArray(list.body['connections']) ? list.body['connections'] : []
  const path = `PUT /connections/${id}/models/pricing`
  const set = await stage.api(owner, path, { model: 'fake/mine', pricing: usual })
  expect(set.status).toBe(200)
  expect((await stage.chat(owner)).status).toBe(402)
  const { admin } = stage.gateway
  const { userId: user_id } = owner
  await admin('POST', '/credits/grant', { user_id, amount: 1, reason: 'test' })
  const { headers } = await stage.chat(owner)
  expect(headers.get('x-tollgate-cost')).toBe('0.000000467')
  agent.kill()
})
