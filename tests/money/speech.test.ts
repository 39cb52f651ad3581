import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { accountOf, findBooked, startBilling, type Billing, type Booked } from '../harness/ledger'
import { sendRaw, type Json } from '../harness/http'
import { hasEachBooked, sumsOf } from '../faults/services/booked'
import { newKey } from '../gateway/idempotency/keyed'
import { soundOf, spokenTokens } from '../harness/upstreams/speeches'
import { upstreamSecret, type Customer } from '../harness/server'
import { eventually } from '../../server/testing/eventually'

const path = '/v1/audio/speech'
const credit = 10_000_000_000n
/** tts-1: 15 USD for 1,000,000 characters. */
const byCharacter = { category: 'speech', pricing: { input: 0, output: 0, input_characters: 15 } }
const perCharacter = 15_000n
/** gpt-4o-mini-tts: 0.60 USD for 1,000,000 tokens of text, 12 for those of sound. */
const byToken = { category: 'speech', pricing: { input: 0.6, output: 0, audio_output: 12 } }
const [perInput, perOutput] = [600n, 12_000n]
const input = 'Good morning to you'

let billing: Billing

beforeAll(async () => {
  billing = await startBilling()
})
afterAll(() => billing[Symbol.asyncDispose]())

const speak = (customer: Customer, body: Json, headers: Record<string, string> = {}) =>
  fetch(`${billing.rig.gateway.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${customer.key}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ input, voice: 'alloy', ...body }),
  })

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer())

/** The one event of a request, by the headers of its answer. */
async function bookedOf({ headers }: Response): Promise<Booked> {
  const [event, ...others] = await findBooked(billing.sql, [headers.get('x-request-id') ?? ''])
  if (!event || others.length > 0) throw new Error(`${others.length + 1} events of one request`)
  return event
}

const paidBy = async (customer: Customer) =>
  credit - (await accountOf(billing.sql, customer)).posted

const priceOf = (text: string) => {
  const { input: read, output } = spokenTokens(text)
  return BigInt(read) * perInput + BigInt(output) * perOutput
}

describe('characters cost their price, and tokens theirs, exactly and once', () => {
  test.each([
    ['letters', 'Good morning to you'],
    ['one letter', 'A'],
    ['signs of three bytes', '早上好,朋友'],
    ['signs beyond the first plane', 'Hi 👋🏽 there 🎉'],
    ['as many as OpenAI takes', 'word '.repeat(819)],
  ])('%s', async (_what, text) => {
    const customer = await billing.customer(credit)
    for (const [fields, due] of [
      [byCharacter, BigInt(Array.from(text).length) * perCharacter],
      [byToken, priceOf(text)],
    ] as const) {
      const name = fields === byToken ? 'by-token' : 'by-character'
      const model = await billing.rig.model(name, { ...fields, upstream_model: 'ok' })
      for (const more of [{}, { stream_format: 'sse' }, { response_format: 'pcm', speed: 2 }]) {
        const before = await paidBy(customer)
        const response = await speak(customer, { model, input: text, ...more })
        expect(response.status).toBe(200)
        await response.arrayBuffer()
        const booked = await bookedOf(response)
        expect(booked).toMatchObject({ cost: due, estimated: false, outcome: 'ok' })
        expect((await paidBy(customer)) - before).toBe(due)
      }
    }
  })
})

test.each(['speech-bytes', 'speech-refuses', 'speech-uncounted'])(
  'a server that does not count is paid by an estimate of its bytes: %s',
  async (name) => {
    const customer = await billing.customer(credit)
    const model = await billing.rig.model(name, byToken)
    const response = await speak(customer, { model, response_format: 'pcm' })
    expect((await bytesOf(response)).equals(soundOf(input))).toBe(true)
    const booked = await bookedOf(response)
    const outputTokens = Math.ceil((soundOf(input).length / 48_000) * 25)
    expect(booked).toMatchObject({ estimated: true })
    expect(booked.cost).toBe(
      BigInt(booked.inputTokens) * perInput + BigInt(outputTokens) * perOutput,
    )
  },
)

test('the longest sound of a text is held: a balance that does not cover it is rejected', async () => {
  const before = billing.rig.upstream.requests().length
  const model = await billing.rig.model('by-token', { ...byToken, upstream_model: 'ok' })
  const poor = await billing.customer(priceOf(input))
  const response = await speak(poor, { model })
  expect(response.status).toBe(402)
  expect(billing.rig.upstream.requests()).toHaveLength(before)
  const characters = await billing.rig.model('by-character', {
    ...byCharacter,
    upstream_model: 'ok',
  })
  const exact = await billing.customer(BigInt(input.length) * perCharacter)
  const paid = await speak(exact, { model: characters })
  expect(paid.status).toBe(200)
  await paid.arrayBuffer()
  await bookedOf(paid)
  expect((await accountOf(billing.sql, exact)).posted).toBe(0n)
})

test.each([
  ['by character', byCharacter],
  ['by token', byToken],
])(
  'a provider that dies in the middle is paid for its sound so far, once: %s',
  async (unit, fields) => {
    const customer = await billing.customer(credit)
    const name = `cut-${unit.replace(' ', '-')}`
    const model = await billing.rig.model(name, { ...fields, upstream_model: 'speech-cut' })
    const response = await speak(customer, { model, response_format: 'pcm' })
    expect(response.status).toBe(200)
    await expect(bytesOf(response)).rejects.toThrow()
    const booked = await bookedOf(response)
    const half = Math.ceil((soundOf(input).length / 2 / 48_000) * 25)
    const due =
      fields === byToken
        ? BigInt(booked.inputTokens) * perInput + BigInt(half) * perOutput
        : BigInt(input.length) * perCharacter
    expect(booked).toMatchObject({ outcome: 'connection_failed', cost: due })
    expect(await paidBy(customer)).toBe(due)
  },
)

test('a client that disconnects in the middle pays once, for the sound so far', async () => {
  const customer = await billing.customer(credit)
  const model = await billing.rig.model('held', { ...byToken, upstream_model: 'speech-held' })
  const client = await sendRaw(billing.rig.gateway, {
    path,
    key: customer.key,
    body: { model, input, voice: 'alloy', response_format: 'pcm' },
  })
  await eventually(() => billing.rig.upstream.heldCount() === 1)
  client.close()
  await eventually(() => hasEachBooked(billing.sql, [customer]))
  billing.rig.upstream.release()
  expect(await sumsOf(billing.sql, [customer])).toMatchObject({ events: 1, doubled: 0 })
  const full = Math.ceil((soundOf(input).length / 48_000) * 25)
  expect(Number(await paidBy(customer))).toBeWithin(1, full * Number(perOutput))
})

test('a provider that bills all of an answer is read to its end, and paid once, without its client', async () => {
  const { gateway, upstream } = billing.rig
  await gateway.admin('POST', '/connections', {
    name: 'google',
    provider: 'google',
    api_key: upstreamSecret,
    endpoint_url: upstream.url,
  })
  const id = 'google/held'
  const model = { id, name: id, ...byToken, upstream_model: 'speech-held' }
  await gateway.admin('POST', '/models', model)
  const customer = await billing.customer(credit)
  const body = { model: id, input, response_format: 'pcm' }
  const client = await sendRaw(gateway, { path, key: customer.key, body })
  await eventually(() => upstream.heldCount() === 1)
  client.close()
  await upstream.releaseHeld()
  await eventually(() => hasEachBooked(billing.sql, [customer]))
  expect(await sumsOf(billing.sql, [customer])).toMatchObject({ events: 1, doubled: 0 })
  expect(await paidBy(customer)).toBe(priceOf(input))
  expect(upstream.bill('speech-held').attempts.at(-1)).toMatchObject({ complete: true })
})

test.each(['status-500', 'speech-silent', 'speech-page'])(
  'a failure before the first byte costs nothing: %s',
  async (name) => {
    const customer = await billing.customer(credit)
    const model = await billing.rig.model(name, byCharacter)
    const response = await speak(customer, { model })
    expect(response.status).toBe(502)
    expect(await bookedOf(response)).toMatchObject({ cost: 0n })
    expect(await paidBy(customer)).toBe(0n)
  },
)

test('a repeat with the same Idempotency-Key receives the same bytes, free of charge', async () => {
  const customer = await billing.customer(credit)
  const model = await billing.rig.model('by-character', { ...byCharacter, upstream_model: 'ok' })
  const key = { 'idempotency-key': newKey() }
  const first = await speak(customer, { model }, key)
  const bytes = await bytesOf(first)
  const again = await speak(customer, { model }, key)
  expect(again.headers.get('x-idempotent-replay')).toBe('true')
  expect(again.headers.get('content-type')).toBe('audio/mpeg')
  expect(again.headers.get('x-request-id')).toBe(first.headers.get('x-request-id'))
  expect((await bytesOf(again)).equals(bytes)).toBe(true)
  const { cost } = await bookedOf(first)
  expect(await paidBy(customer)).toBe(cost)
})
