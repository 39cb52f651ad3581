import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { expectSoundLedger } from '../harness/ledger-oracle'
import {
  accountOf,
  findBookedOnce,
  nanosOf,
  reportedCost,
  startBilling,
  waitUntilBooked,
  type Billing,
} from '../harness/ledger'
import { sendRequest, type Answer, type Json } from '../harness/http'
import type { Customer } from '../harness/server'

/** 20 USD for 1,000,000 tokens that are read: 50,000 characters hold more than a dollar by their bytes. */
const pricing = { input: 20, output: 60 }
const inputPrice = 20_000n

const sentence =
  'The gateway holds the most that a request can cost before it is sent and settles it when the answer has come. '
const english = sentence.repeat(Math.ceil(50_000 / sentence.length)).slice(0, 50_000)
/** Words of rare letters, which no vocabulary has whole. */
const noise = Array.from({ length: 7000 }, (_, at) =>
  [3, 5, 7, 11, 13, 17].map((step) => 'qzxjvkwyfpgb'[(at * step + step) % 12]).join(''),
).join(' ')

let billing: Billing

beforeAll(async () => {
  billing = await startBilling({ environment: { LOG_LEVEL: 'warn' } })
  const sizes = { context_length: 200_000, pricing, upstream_model: 'chunks-5' }
  await billing.rig.model('long', sizes)
  const embedding = { category: 'embedding', upstream_model: 'ok' }
  await billing.rig.model('long-embedding', { pricing: { input: 20, output: 0 }, ...embedding })
})
afterAll(async () => {
  const attempts = billing.rig.upstream.requests().length
  await waitUntilBooked(billing.sql, attempts)
  billing.rig.gateway.recorder.verify()
  await expectSoundLedger(billing.sql, { attempts })
  await billing[Symbol.asyncDispose]()
})

/** The requests with a text, by endpoint. */
const doors: Readonly<Record<string, (text: string) => Json>> = {
  '/v1/chat/completions': (text) => ({
    messages: [{ role: 'user', content: text }],
    max_tokens: 16,
  }),
  '/v1/completions': (text) => ({ prompt: text, max_tokens: 16 }),
  '/v1/responses': (text) => ({ input: text, max_output_tokens: 16 }),
  '/v1/messages': (text) => ({ messages: [{ role: 'user', content: text }], max_tokens: 16 }),
  '/v1/embeddings': (text) => ({ input: text }),
}

const usualPath = '/v1/chat/completions'

function ask({ key }: Customer, text: string, path = usualPath): Promise<Answer> {
  const model = path === '/v1/embeddings' ? 'fake/long-embedding' : 'fake/long'
  return sendRequest(billing.rig.gateway, { path, key, body: { model, ...doors[path]?.(text) } })
}

const detailsOf = ({ error }: Answer) => [
  nanosOf(error.details?.['current_balance']),
  nanosOf(error.details?.['minimum_required']),
]

const sentRequests = () => billing.rig.upstream.requests().length

test.each(Object.keys(doors))(
  'finding M23: 50,000 characters of English on one dollar: 200 on %s, charged their cost',
  async (path) => {
    const penniless = await billing.customer(0n)
    const refused = await ask(penniless, english, path)
    // Not every format has details.
    const [, plain] = /requires ([\d.]+) USD/.exec(String(refused.error.message)) ?? []
    expect([refused.status, Number(plain) > 1]).toEqual([402, true])
    const customer = await billing.customer(1_000_000_000n)
    const answer = await ask(customer, english, path)
    expect(answer.status).toBe(200)
    const event = await findBookedOnce(billing.sql, answer)
    const words = english.match(/\S+/g)?.length ?? 0
    expect([event.inputTokens, event.estimated, event.writtenOff]).toEqual([words, false, 0n])
    const output = path === '/v1/embeddings' ? 0n : 5n * 60_000n
    expect(event.cost).toBe(BigInt(words) * inputPrice + output)
    expect(reportedCost(answer)).toBe(event.cost)
    expect((await accountOf(billing.sql, customer)).posted).toBe(1_000_000_000n - event.cost)
  },
)

describe('finding M23: the exact edges of the closer hold', () => {
  test('its required amount is enough, a nano-dollar less is not, and the error names both', async () => {
    const before = sentRequests()
    const [balance, need = 0n] = detailsOf(await ask(await billing.customer(480_000_000n), english))
    expect(balance).toBe(480_000_000n)
    expect(Number(need)).toBeWithin(500_000_000, 650_000_000)
    const refused = await ask(await billing.customer(need - 1n), english)
    expect([refused.status, refused.error.code]).toEqual([402, 'insufficient_credits'])
    expect(detailsOf(refused)).toEqual([need - 1n, need])
    expect(sentRequests()).toBe(before)
    expect((await ask(await billing.customer(need), english)).status).toBe(200)
  })

  test('text that is not prose is rejected as by nearly all of its bytes', async () => {
    const [, plain = 0n] = detailsOf(await ask(await billing.customer(0n), noise))
    const refused = await ask(await billing.customer(800_000_000n), noise)
    expect(refused.status).toBe(402)
    const [balance, need = 0n] = detailsOf(refused)
    expect(balance).toBe(800_000_000n)
    // The spaces are saved.
    expect(Number(need)).toBeWithin(0.8 * Number(plain), 0.9 * Number(plain))
  })

  test('the data of an image are held as before, beside a text that is counted', async () => {
    const data = 'A'.repeat(40_000)
    const url = `data:image/png;base64,${data}`
    const content = [
      { type: 'text', text: english },
      { type: 'image_url', image_url: { url } },
    ]
    const body = { model: 'fake/long', max_tokens: 16, messages: [{ role: 'user', content }] }
    const send = async (credit: bigint) => {
      const { key } = await billing.customer(credit)
      return detailsOf(await sendRequest(billing.rig.gateway, { key, body }))
    }
    const [, plain = 0n] = await send(0n)
    const [, need = 0n] = await send(800_000_000n)
    const [, textPlain = 0n] = detailsOf(await ask(await billing.customer(0n), english))
    const [, textNeed = 0n] = detailsOf(await ask(await billing.customer(480_000_000n), english))
    expect(plain).toBeGreaterThan(need)
    expect(plain - need).toBe(textPlain - textNeed)
  })
})

test('finding M23: a spending limit of a key is met by the closer hold', async () => {
  const { gateway } = billing.rig
  const limited = (usd: number) => gateway.customer({ monthly_spend_limit: usd }, { credit: 5 })
  const answer = await ask(await limited(1), english)
  expect(answer.status).toBe(200)
  const refused = await ask(await limited(0.48), english)
  expect([refused.status, refused.error.code]).toEqual([402, 'insufficient_credits'])
  const [remaining, need = 0n] = detailsOf(refused)
  expect(remaining).toBe(480_000_000n)
  expect(Number(need)).toBeWithin(500_000_000, 650_000_000)
})

test('finding M23: concurrent requests share the balance, and spend at most that', async () => {
  const customer = await billing.customer(1_300_000_000n)
  const answers = await Promise.all([1, 2, 3].map(() => ask(customer, english)))
  const served = answers.filter(({ status }) => status === 200)
  expect(served.length).toBeWithin(1, 4)
  expect(answers.filter(({ status }) => status === 402)).toHaveLength(3 - served.length)
  const events = await Promise.all(served.map((answer) => findBookedOnce(billing.sql, answer)))
  const cost = events.reduce((sum, event) => sum + event.cost, 0n)
  expect((await accountOf(billing.sql, customer)).posted).toBe(1_300_000_000n - cost)
})
