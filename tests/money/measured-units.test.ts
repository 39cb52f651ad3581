import { afterAll, beforeAll, expect, test } from 'bun:test'
import { expectSoundLedger } from '../harness/ledger-oracle'
import {
  waitUntilBooked,
  findBookedOnce,
  reportedCost,
  nanosOf,
  startBilling,
  type Billing,
} from '../harness/ledger'
import { sendRequest, toStream, type Answer, type Json } from '../harness/http'
import { recordedAnswer, type Report } from './recorded-units'
import { readLog } from '../harness/request-log'
import type { Customer } from '../harness/server'

/** 1,000 nano-dollars a character read, 4,000 one written; a million of them a second. */
const byCharacter = { input: 0, output: 0, input_characters: 1, output_characters: 4 }
const bySecond = { input: 0, output: 0, second: 0.001 }

let billing: Billing
let customer: Customer

beforeAll(async () => {
  billing = await startBilling({ environment: { REQUEST_TIMEOUT_SECONDS: '30' } })
  customer = await billing.customer(10_000_000_000n)
})
afterAll(async () => {
  const attempts = billing.rig.upstream.requests().length
  await waitUntilBooked(billing.sql, attempts)
  billing.rig.gateway.recorder.verify()
  await expectSoundLedger(billing.sql, { attempts })
  await billing[Symbol.asyncDispose]()
})

/** A model of the rig that answers what was recorded, at a price. */
async function serve(name: string, body: string, pricing: Json): Promise<string> {
  billing.rig.upstream.serve(name, { body })
  return billing.rig.model(name, { pricing })
}

interface MeasuredRequest {
  model: string
  content: string
  fields?: Json
  as?: Customer
}

const chat = ({ model, content, fields, as = customer }: MeasuredRequest) =>
  sendRequest(billing.rig.gateway, {
    key: as.key,
    body: { model, messages: [{ role: 'user', content }], ...fields },
  })

const detailsOf = ({ headers }: Answer) =>
  readLog(billing.rig.gateway, customer, { headers, part: '/details' })

/** An emoji, which is a pair of surrogates, is one character; a letter with a combining accent is two. */
const prompt = 'Grüße \u{1F600} e\u0301'
const promptLength = 10

test('a price per character charges the Unicode characters of prompt and answer, plain and streamed', async () => {
  const text = 'Zöllner 😀'
  const model = await serve('characters-whole', recordedAnswer({ text }), byCharacter)
  const answer = await chat({ model, content: prompt })
  expect(answer.status).toBe(200)
  const due = BigInt(promptLength) * 1000n + 9n * 4000n
  expect([(await findBookedOnce(billing.sql, answer)).cost, reportedCost(answer)]).toEqual([
    due,
    due,
  ])
  expect(await detailsOf(answer)).toMatchObject({
    pricing: { input_characters: 1, output_characters: 4, second: null },
    measured: { input_characters: promptLength, output_characters: 9, processing_ms: null },
  })
  const recorded = recordedAnswer({ text, stream: true })
  const streaming = await serve('characters-stream', recorded, byCharacter)
  const streamed = await chat({ model: streaming, content: prompt, fields: { stream: true } })
  expect(toStream(streamed)).toMatchObject({ content: text, isDone: true })
  expect((await findBookedOnce(billing.sql, streamed)).cost).toBe(due)
})

test('the hold of a price per character is the prompt’s characters and the longest answer', async () => {
  const model = await serve('characters-held', recordedAnswer({ text: 'a' }), byCharacter)
  const floorOf = async (content: string) => {
    const penniless = await billing.customer(0n)
    const { error } = await chat({ model, content, as: penniless, fields: { max_tokens: 10 } })
    return nanosOf(error.details?.['minimum_required'])
  }
  // A token of output has 128 bytes at most, and so at most as many characters.
  expect(await floorOf(prompt)).toBe(BigInt(promptLength) * 1000n + 10n * 128n * 4000n)
  expect(await floorOf('x'.repeat(5000))).toBe(5_000_000n + 10n * 128n * 4000n)
})

test('an answer longer than its limit is charged at most the characters that were held', async () => {
  const body = recordedAnswer({ text: '😀'.repeat(1000) })
  const model = await serve('characters-longer', body, byCharacter)
  const answer = await chat({ model, content: 'Hi', fields: { max_tokens: 1 } })
  expect((await findBookedOnce(billing.sql, answer)).cost).toBe(2000n + 128n * 4000n)
})

test.each<[string, Report, bigint]>([
  ['Groq’s total_time', { usage: { total_time: 0.0061 } }, 7n],
  ['SambaNova’s total_latency', { usage: { total_latency: 1.1 } }, 1100n],
  ['Cerebras’ time_info', { time_info: { queue_time: 0.001, total_time: 0.0222 } }, 23n],
  ['llama.cpp’s timings', { timings: { prompt_ms: 12.5, predicted_ms: 3 } }, 16n],
])('a price per second charges %s, to the millisecond', async (_what, report, ms) => {
  const name = `seconds-${ms}`
  const model = await serve(name, recordedAnswer({ text: 'Hi', report }), bySecond)
  const answer = await chat({ model, content: 'Hello' })
  expect((await findBookedOnce(billing.sql, answer)).cost).toBe(ms * 1000n)
  expect(await detailsOf(answer)).toMatchObject({
    pricing: { second: 0.001 },
    measured: { input_characters: null, processing_ms: Number(ms) },
  })
  const recorded = recordedAnswer({ text: 'Hi', report, stream: true })
  const streaming = await serve(`${name}-stream`, recorded, bySecond)
  const streamed = await chat({ model: streaming, content: 'Hello', fields: { stream: true } })
  expect(toStream(streamed).isDone).toBeTrue()
  expect((await findBookedOnce(billing.sql, streamed)).cost).toBe(ms * 1000n)
})

test('without a report a price per second charges the time that the attempt ran', async () => {
  const model = await billing.rig.model('slow-first-byte-300', { pricing: bySecond })
  const answer = await chat({ model, content: 'Hello' })
  const { cost, durationMs } = await findBookedOnce(billing.sql, answer)
  const ms = Number(cost / 1000n)
  expect(cost % 1000n).toBe(0n)
  expect(ms).toBeGreaterThanOrEqual(300)
  // Charged before the attempt is closed; the charge rounds up, the duration to the nearest.
  expect(ms).toBeLessThanOrEqual(durationMs + 1)
})

test('a reported time is charged up to the request’s deadline, which is held', async () => {
  const report = { usage: { total_time: 80_000 } }
  const model = await serve('seconds-absurd', recordedAnswer({ text: 'Hi', report }), bySecond)
  const answer = await chat({ model, content: 'Hello' })
  expect((await findBookedOnce(billing.sql, answer)).cost).toBe(30_000_000n)
  const poor = await billing.customer(29_999_999n)
  const refused = await chat({ model, content: 'Hello', as: poor })
  expect([refused.status, refused.error.code]).toEqual([402, 'insufficient_credits'])
})

test('prices per character and per second are kept in the history', async () => {
  const model = await billing.rig.model('history', { pricing: { input: 1, output: 4 } })
  const pricing = { ...byCharacter, second: 0.5, tiers: [{ above: 1000, second: 1 }] }
  await billing.rig.gateway.admin('PUT', `/models/${model}/prices`, { pricing })
  const { prices } = await billing.rig.gateway.admin('GET', `/models/${model}/prices`)
  expect(prices).toMatchObject([{ pricing }, { pricing: { second: null } }])
})

test('estimates have the characters of the texts, and no time', async () => {
  const model = await serve('characters-estimated', recordedAnswer({ text: 'a' }), byCharacter)
  const { body } = await sendRequest(billing.rig.gateway, {
    path: '/api/user/quota/estimate-cost',
    key: customer.key,
    body: { model, messages: [{ role: 'user', content: prompt }], max_tokens: 10 },
  })
  expect(body).toMatchObject({
    input_cost: 0.00001,
    output_cost: 0.000184,
    estimated_cost: 0.000194,
  })
})

test('estimates have the price of each image', async () => {
  const pricing = { input: 1, output: 4, image: 0.5 }
  const model = await billing.rig.model('images-estimated', { pricing })
  const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
  const estimateOf = async (...images: Json[]) => {
    const content = [{ type: 'text', text: 'What is this?' }, ...images]
    const { body } = await sendRequest(billing.rig.gateway, {
      path: '/api/user/quota/estimate-cost',
      key: customer.key,
      body: { model, messages: [{ role: 'user', content }], max_tokens: 10 },
    })
    return Number(body['input_cost']) - Number(body['input_tokens']) / 1e6
  }
  expect(await estimateOf()).toBeCloseTo(0, 9)
  expect(await estimateOf(image, image)).toBeCloseTo(1, 9)
})
