import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  accountOf,
  findBookedOnce,
  reportedCost,
  startBilling,
  type Billing,
} from '../harness/ledger'
import { sendRaw, sendRequest, type Json } from '../harness/http'
import type { Customer } from '../harness/server'
import { sendIdempotent } from '../gateway/idempotency/keyed'
import { eventually } from '../../server/testing/eventually'

const path = '/v1/images/generations'
const credit = 10_000_000_000n
const prompt = 'one two three'
/** The tokens that the fake provider counts in it. */
const promptTokens = 3n

const ofImages = (pricing: Json) => ({
  category: 'image',
  pricing: { input: 0, output: 0, ...pricing },
})
/** https://platform.openai.com/docs/pricing */
const dallE3 = ofImages({
  made_image: 0.04,
  tiers: [
    { above_pixels: 1_048_576, made_image: 0.08 },
    { quality: 'hd', made_image: 0.08 },
    { quality: 'hd', above_pixels: 1_048_576, made_image: 0.12 },
  ],
})
const dallE2 = ofImages({
  made_image: 0.016,
  tiers: [
    { above_pixels: 65_536, made_image: 0.018 },
    { above_pixels: 262_144, made_image: 0.02 },
  ],
})
const gptImage = ofImages({ input: 5, image_input: 10, image_output: 40 })
const gptImageMini = ofImages({ input: 2, image_input: 2.5, image_output: 8 })
const perMegapixel = ofImages({ made_megapixel: 0.0027 })

let billing: Billing

beforeAll(async () => {
  billing = await startBilling()
})
afterAll(() => billing[Symbol.asyncDispose]())

const vary = (customer: Customer, model: string, fields: Json = {}) =>
  sendRequest(billing.rig.gateway, {
    path: '/v1/images/variations',
    key: customer.key,
    body: { model, images: [{ image_url: 'data:image/png;base64,iVBORw0KGgo=' }], ...fields },
  })

const draw = (customer: Customer, model: string, fields: Json = {}) =>
  sendRequest(billing.rig.gateway, { path, key: customer.key, body: { model, prompt, ...fields } })

let count = 0
/** A model of its own, which behaves as one of the fake provider. */
const modelOf = (behaviour: string, fields: Json) =>
  billing.rig.model(`${behaviour}~${++count}`, {
    max_output_tokens: null,
    ...fields,
    upstream_model: behaviour,
  })

/** Tokens of an image of OpenAI's models. https://platform.openai.com/docs/guides/image-generation */
const tokens = {
  low: { '1024x1024': 272n, '1024x1536': 408n, '1536x1024': 400n },
  medium: { '1024x1024': 1056n, '1024x1536': 1584n, '1536x1024': 1568n },
  high: { '1024x1024': 4160n, '1024x1536': 6240n, '1536x1024': 6208n },
} as const

/** The published price of each size and quality, in nano-dollars. */
const bill: [name: string, behaviour: string, fields: Json, request: Json, cost: bigint][] = [
  ...([undefined, 'standard', 'hd'] as const).flatMap((quality) =>
    (['1024x1024', '1024x1792', '1792x1024'] as const).map((size): (typeof bill)[number] => [
      'dall-e-3',
      'draw-address',
      dallE3,
      { quality, size },
      (size === '1024x1024' ? 40_000_000n : 80_000_000n) + (quality === 'hd' ? 40_000_000n : 0n),
    ]),
  ),
  ...(
    [
      ['256x256', 16_000_000n],
      ['512x512', 18_000_000n],
      ['1024x1024', 20_000_000n],
    ] as const
  ).flatMap(([size, price]) =>
    [1, 3, 10].map((n): (typeof bill)[number] => [
      'dall-e-2',
      'draw-address',
      dallE2,
      { size, n },
      price * BigInt(n),
    ]),
  ),
  ...(['low', 'medium', 'high'] as const).flatMap((quality) =>
    (['1024x1024', '1024x1536', '1536x1024'] as const).flatMap((size) => [
      [
        'gpt-image-1',
        'ok',
        gptImage,
        { quality, size, n: 2 },
        promptTokens * 5000n + 2n * tokens[quality][size] * 40_000n,
      ] satisfies (typeof bill)[number],
      [
        'gpt-image-1-mini',
        'ok',
        gptImageMini,
        { quality, size },
        promptTokens * 2000n + tokens[quality][size] * 8000n,
      ] satisfies (typeof bill)[number],
    ]),
  ),
  // By the pixels of the data where there is any, else by the request.
  ...(['512x768', '1024x1024', '333x777'] as const).flatMap((size) =>
    ['url', 'b64_json'].map((form): (typeof bill)[number] => {
      const [width = 0, height = 0] = size.split('x').map(Number)
      const pixels = BigInt(width * height)
      const cost = (pixels * 2_700_000n + 999_999n) / 1_000_000n
      return ['flux', 'draw-address', perMegapixel, { size, response_format: form }, cost]
    }),
  ),
]

describe('each image costs its published price, once', () => {
  test.each(bill)('%s as %s: %# %j', async (...[, behaviour, fields, request, cost]) => {
    const customer = await billing.customer(credit)
    const model = await modelOf(behaviour, fields)
    const answer = await draw(customer, model, request)
    expect(answer.status).toBe(200)
    expect(reportedCost(answer)).toBe(cost)
    expect(await findBookedOnce(billing.sql, answer)).toMatchObject({ cost, estimated: false })
    expect((await accountOf(billing.sql, customer)).posted).toBe(credit - cost)
  })
})

test.each([
  ['auto', { quality: 'auto', size: 'auto' }],
  ['nothing', {}],
])(
  'the quality that the model chose is charged, where the request says %s',
  async (_what, fields) => {
    const customer = await billing.customer(credit)
    const byQuality = ofImages({
      made_image: 0.01,
      tiers: [{ quality: 'high', made_image: 0.07 }],
    })
    const answer = await draw(customer, await modelOf('ok', byQuality), fields)
    expect(reportedCost(answer)).toBe(70_000_000n)
  },
)

test('the highest price of a request is held: a smaller balance is rejected', async () => {
  const model = await modelOf('draw-address', dallE3)
  const poor = await billing.customer(119_999_999n)
  const before = billing.rig.upstream.requests().length
  const { status, error } = await draw(poor, model)
  expect([status, error.code]).toEqual([402, 'insufficient_credits'])
  expect((await draw(poor, model, { quality: 'hd', size: '1024x1792' })).status).toBe(402)
  expect(billing.rig.upstream.requests()).toHaveLength(before)
  const answer = await draw(poor, model, { quality: 'hd', size: '1024x1024' })
  expect([answer.status, reportedCost(answer)]).toEqual([200, 80_000_000n])
})

test.each([
  ['256x256', 1, 16_000_000n],
  ['512x512', 3, 54_000_000n],
  ['1024x1024', 10, 200_000_000n],
])('variations of %s, %d of them, are held and charged as images', async (size, n, cost) => {
  const model = await modelOf('ok', dallE2)
  const poor = await billing.customer(cost - 1n)
  const before = billing.rig.upstream.requests().length
  expect((await vary(poor, model, { size, n })).status).toBe(402)
  expect(billing.rig.upstream.requests()).toHaveLength(before)
  const customer = await billing.customer(cost)
  const answer = await vary(customer, model, { size, n })
  expect([answer.status, reportedCost(answer)]).toEqual([200, cost])
  expect(await findBookedOnce(billing.sql, answer)).toMatchObject({ cost, estimated: false })
  expect((await accountOf(billing.sql, customer)).posted).toBe(0n)
})

test('fewer images than were requested are charged as they are', async () => {
  const customer = await billing.customer(credit)
  const answer = await draw(customer, await modelOf('draw-fewer', dallE3), { n: 4 })
  expect([answer.status, reportedCost(answer)]).toEqual([200, 40_000_000n])
  await findBookedOnce(billing.sql, answer)
})

test('a provider that does not count the tokens that its price charges is paid by an estimate', async () => {
  const customer = await billing.customer(credit)
  const answer = await draw(customer, await modelOf('draw-address', gptImage), { quality: 'low' })
  const booked = await findBookedOnce(billing.sql, answer)
  expect(booked.estimated).toBe(true)
  expect(Number(booked.cost)).toBeWithin(272 * 40_000, 272 * 40_000 + 100_000)
})

test.each([
  ['a failure', 'status-500', 502],
  ['an answer without an image', 'draw-none', 502],
  ['a connection that is lost in the middle', 'half-json', 502],
])('%s of the provider costs nothing', async (_what, behaviour, status) => {
  const customer = await billing.customer(credit)
  const answer = await draw(customer, await modelOf(behaviour, dallE3))
  expect(answer.status).toBe(status)
  expect(await findBookedOnce(billing.sql, answer)).toMatchObject({ cost: 0n })
  expect((await accountOf(billing.sql, customer)).posted).toBe(credit)
})

test('a client that disconnects pays for the images that were ordered, once', async () => {
  const customer = await billing.customer(credit)
  const model = await modelOf('held-first', dallE3)
  const { gateway, upstream } = billing.rig
  const before = upstream.requests().length
  const body = { model, prompt, n: 2 }
  const client = await sendRaw(gateway, { path, key: customer.key, body })
  await eventually(() => upstream.requests().length > before)
  client.close()
  await eventually(async () => (await accountOf(billing.sql, customer)).posted < credit)
  expect(credit - (await accountOf(billing.sql, customer)).posted).toBe(80_000_000n)
})

const stream = async (customer: Customer, model: string, fields: Json = {}) => {
  const body = { model, prompt, stream: true, partial_images: 1, quality: 'low', ...fields }
  return sendRequest(billing.rig.gateway, { path, key: customer.key, body })
}
const paidBy = async (customer: Customer) =>
  credit - (await accountOf(billing.sql, customer)).posted

describe('a stream', () => {
  const price = promptTokens * 5000n + tokens.low['1024x1024'] * 40_000n

  test('costs the tokens that its last event counts', async () => {
    const customer = await billing.customer(credit)
    const answer = await stream(customer, await modelOf('ok', gptImage))
    expect(answer.status).toBe(200)
    expect(await findBookedOnce(billing.sql, answer)).toMatchObject({ cost: price })
    expect(await paidBy(customer)).toBe(price)
  })

  test.each(['draw-cut', 'draw-error'])(
    'costs nothing without its image: %s',
    async (behaviour) => {
      const customer = await billing.customer(credit)
      const answer = await stream(customer, await modelOf(behaviour, dallE3))
      expect(await findBookedOnce(billing.sql, answer)).toMatchObject({ cost: 0n })
      expect(await paidBy(customer)).toBe(0n)
    },
  )

  test('costs the image that its client did not wait for', async () => {
    const customer = await billing.customer(credit)
    const model = await modelOf('draw-held', dallE3)
    const body = { model, prompt, stream: true, partial_images: 1 }
    const client = await sendRaw(billing.rig.gateway, { path, key: customer.key, body })
    await eventually(() => billing.rig.upstream.heldCount() === 1)
    client.close()
    await eventually(async () => (await paidBy(customer)) > 0n)
    expect(await paidBy(customer)).toBe(40_000_000n)
    billing.rig.upstream.release()
  })
})

test('a repeat with the same Idempotency-Key is answered from the first, free of charge', async () => {
  const customer = await billing.customer(credit)
  const body = { model: await modelOf('draw-address', dallE3), prompt }
  const sent = { customer, key: 'one-image', path, body }
  const first = await sendIdempotent(billing.rig.gateway, sent)
  const again = await sendIdempotent(billing.rig.gateway, sent)
  expect([first.status, again.text]).toEqual([200, first.text])
  expect(again.headers.get('x-idempotent-replay')).toBe('true')
  const left = credit - 40_000_000n
  await eventually(async () => (await accountOf(billing.sql, customer)).posted === left)
})
