import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { mp3, wav, webm } from '../../server/testing/sound-files'
import { eventually } from '../../server/testing/eventually'
import { request, sendRequest, type FormFields } from '../harness/http'
import {
  accountOf,
  findBookedOnce,
  reportedCost,
  startBilling,
  type Billing,
} from '../harness/ledger'
import type { Customer } from '../harness/server'

const path = '/v1/audio/transcriptions'
const credit = 10_000_000_000n
const category = 'transcription'
/** 0.006 USD a minute, as Whisper has it: 100,000 nano-dollars a second. */
const byTime = { category, pricing: { input: 0, output: 0, audio_hour: 0.36 } }
const second = 100_000n
const byToken = { category, pricing: { input: 2.5, audio_input: 6, output: 10 } }
const file = new File([wav(4)], 'talk.wav', { type: 'audio/wav' })

let billing: Billing

beforeAll(async () => {
  billing = await startBilling()
})
afterAll(() => billing[Symbol.asyncDispose]())

const transcribe = (customer: Customer, model: string, fields: FormFields = {}) =>
  sendRequest(billing.rig.gateway, {
    path,
    key: customer.key,
    form: { file, model, ...fields },
  })

const uploads = () => readdir(join(billing.rig.gateway.dataDir, 'uploads'))

describe('sound costs its time to the nano-dollar, rounded up once', () => {
  test.each([
    ['as the provider counts it, in whole seconds', 'ok', wav(2.5), 0.36, 3n * second],
    [
      'as it was measured, where the provider does not count',
      'hear-uncounted',
      wav(2.5),
      0.36,
      250_000n,
    ],
    ['an hour divided by its seconds', 'hear-uncounted', wav(1), 0.111, 30_834n],
    ['of MP3, whose length is that of its frames', 'hear-uncounted', mp3(1000), 0.36, 2_612_300n],
    [
      'at most as long as the file, for any claim of the provider',
      'hear-years',
      wav(4),
      0.36,
      4n * second,
    ],
    ['by its size, where it has no length', 'hear-uncounted', webm(), 0.36, undefined],
  ])('%s', async (name, upstream, ...[content, audioHour, cost]) => {
    const customer = await billing.customer(credit)
    const pricing = { input: 0, output: 0, audio_hour: audioHour }
    const model = await billing.rig.model(`${upstream}~${name.length}`, { category, pricing })
    const answer = await transcribe(customer, model, { file: new File([content], 'a.bin') })
    expect(answer.status).toBe(200)
    const bySize = BigInt(Math.ceil((content.length / 750) * 1000)) * 100n
    const expected = cost ?? bySize
    expect(reportedCost(answer)).toBe(expected)
    const estimated = upstream === 'hear-uncounted'
    expect(await findBookedOnce(billing.sql, answer)).toMatchObject({ cost: expected, estimated })
    expect((await accountOf(billing.sql, customer)).posted).toBe(credit - expected)
  })
})

test('a provider with a least length bills it for shorter sound', async () => {
  const { gateway, upstream } = billing.rig
  const options = { minAudioSeconds: 10 }
  await gateway.admin('POST', '/providers', {
    key: 'groq-like',
    name: 'Groq-like',
    adapter: 'openai',
    base_url: upstream.url,
    options,
  })
  await gateway.admin('POST', '/connections', {
    name: 'g',
    provider: 'groq-like',
    api_key: 'secret',
  })
  const id = 'groq-like/hear-uncounted'
  await gateway.admin('POST', '/models', { id, name: id, ...byTime })
  const customer = await billing.customer(credit)
  expect(reportedCost(await transcribe(customer, id))).toBe(10n * second)
  const long = { file: new File([wav(12)], 'long.wav') }
  expect(reportedCost(await transcribe(customer, id, long))).toBe(12n * second)
})

test.each([{}, { stream: 'true' }])(
  'tokens cost their price, of text and of sound: %p',
  async (fields) => {
    const customer = await billing.customer(credit)
    const model = await billing.rig.model('hear-tokens', byToken)
    const answer = await transcribe(customer, model, fields)
    expect(answer.status).toBe(200)
    const cost = 4n * 2500n + 40n * 6000n + 8n * 10_000n
    expect(await findBookedOnce(billing.sql, answer)).toMatchObject({ cost, estimated: false })
    expect((await accountOf(billing.sql, customer)).posted).toBe(credit - cost)
  },
)

test('tokens that the provider does not count are estimated', async () => {
  const customer = await billing.customer(credit)
  const model = await billing.rig.model('hear-uncounted~tokens', byToken)
  const booked = await findBookedOnce(billing.sql, await transcribe(customer, model))
  expect(booked.estimated).toBe(true)
  expect(Number(booked.cost)).toBeWithin(240_000, 500_000)
})

test('the time of the sound is held: a smaller balance is rejected, and nothing is sent', async () => {
  const model = await billing.rig.model('ok~held', byTime)
  const before = billing.rig.upstream.requests().length
  const poor = await billing.customer(4n * second - 1n)
  const { status, error } = await transcribe(poor, model)
  expect([status, error.code]).toEqual([402, 'insufficient_credits'])
  expect(billing.rig.upstream.requests()).toHaveLength(before)
  const exact = await billing.customer(4n * second)
  expect(reportedCost(await transcribe(exact, model))).toBe(4n * second)
  await eventually(async () => (await accountOf(billing.sql, exact)).posted === 0n)
})

test.each([
  ['a failure', 'status-500', 502],
  ['an answer without a text', 'hear-nothing', 502],
])('%s of the provider costs nothing, and leaves no file', async (_what, name, status) => {
  const customer = await billing.customer(credit)
  const answer = await transcribe(customer, await billing.rig.model(name, byTime))
  expect(answer.status).toBe(status)
  expect(await findBookedOnce(billing.sql, answer)).toMatchObject({ cost: 0n })
  expect((await accountOf(billing.sql, customer)).posted).toBe(credit)
  await eventually(async () => (await uploads()).length === 0)
})

test.each([
  ['no file', { file: null }],
  ['an empty file', { file: new File([], 'a.wav') }],
  ['a format that does not exist', { response_format: 'docx' }],
])('%s costs nothing, and leaves no file', async (_what, fields) => {
  const customer = await billing.customer(credit)
  const answer = await transcribe(customer, await billing.rig.model('ok', byTime), fields)
  expect(answer.status).toBe(400)
  expect((await accountOf(billing.sql, customer)).posted).toBe(credit)
  await eventually(async () => (await uploads()).length === 0)
})

test('a provider that dies in the middle of its text is paid for the sound, once', async () => {
  const customer = await billing.customer(credit)
  const model = await billing.rig.model('hear-cut', byTime)
  const response = await request(billing.rig.gateway, {
    path,
    key: customer.key,
    form: { file, model, stream: 'true' },
  })
  expect(response.status).toBe(200)
  const text = await response.text()
  expect(text).toContain('transcript.text.delta')
  expect(text).toContain('"error"')
  expect(text).not.toContain('transcript.text.done')
  await eventually(
    async () => (await accountOf(billing.sql, customer)).posted === credit - 4n * second,
  )
})

test.each([
  ['before an answer', 'held-first', {}],
  ['in the middle of a stream', 'hear-held', { stream: 'true' }],
])(
  'a client that disconnects %s pays for the sound, once, and leaves no file',
  async (...[, name, fields]) => {
    const customer = await billing.customer(credit)
    const model = await billing.rig.model(name, byTime)
    const { gateway, upstream } = billing.rig
    const before = upstream.requests().length
    const client = new AbortController()
    const form: FormFields = { file, model, ...fields }
    const sent = { path, key: customer.key, form, signal: client.signal }
    const answer = request(gateway, sent).then((response) => response.body?.getReader().read())
    answer.catch(() => undefined)
    await eventually(() => upstream.requests().length > before)
    if (name === 'hear-held') await answer
    client.abort()
    await eventually(
      async () => (await accountOf(billing.sql, customer)).posted === credit - 4n * second,
    )
    await eventually(async () => (await uploads()).length === 0)
  },
)

test('a repeat with the same Idempotency-Key and file is free, another file is another request', async () => {
  const customer = await billing.customer(credit)
  const model = await billing.rig.model('ok~repeat', byTime)
  const send = (content: Uint8Array) =>
    sendRequest(billing.rig.gateway, {
      path,
      key: customer.key,
      headers: { 'Idempotency-Key': 'one-talk' },
      form: { file: new File([content], 'talk.wav'), model },
    })
  const first = await send(wav(4))
  const again = await send(wav(4))
  expect([first.status, again.text]).toEqual([200, first.text])
  expect(again.headers.get('x-idempotent-replay')).toBe('true')
  const other = await send(wav(5))
  expect(other.error.details).toMatchObject({ issue: 'key_reused' })
  await eventually(
    async () => (await accountOf(billing.sql, customer)).posted === credit - 4n * second,
  )
  await eventually(async () => (await uploads()).length === 0)
})
