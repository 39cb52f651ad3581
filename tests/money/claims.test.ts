import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { waitUntilBooked, nanosOf } from '../harness/ledger'
import { newOrganization, type Organization } from '../harness/organization'
import { call, idIn, createModelFixture, type Fixture } from '../harness/byok'
import { expectSoundLedger } from '../harness/ledger-oracle'
import { openDatabase } from '../harness/database'
import { sendRequest, messages, type Json } from '../harness/http'
import { readLog } from '../harness/request-log'
import type { Customer } from '../harness/server'

/** M11, M12: the owner of a connection, or any provider, counts more than it sent. */

let fixture: Fixture
let organization: Organization
let plan: unknown
/** What the provider was asked by all tests so far. */
let attempts = 0

/** Nano-dollars a token, of the models that the catalogue has. */
const [inputPrice, outputPrice] = [1000n, 4000n]
/** Of the one that it has not, the most that an owner may ask: 1,000 USD a million. */
const boundPrice = 1_000_000n
/** `hello`, and what may stand around it. */
const maxHelloTokens = 5 + 2 * 64
const tokensPerMinute = 200_000

beforeAll(async () => {
  fixture = await createModelFixture()
  const { admin } = fixture.gateway
  const sizes = { context_length: 131_072, max_output_tokens: 32_768 }
  const pricing = { input: 1, output: 4 }
  const model = { category: 'chat', pricing, ...sizes }
  await admin('POST', '/models', { ...model, id: 'fake/plain', name: 'Plain' })
  const capabilities = { reasoning: true }
  await admin('POST', '/models', { ...model, id: 'fake/thinks', name: 'Thinks', capabilities })
  plan = (await admin('POST', '/plans', { name: 'counted', tokens_per_minute: tokensPerMinute }))[
    'id'
  ]
  organization = await newOrganization(fixture)
  const id = idIn(await organization.connection({ billing_mode: 'member_pays' }))
  fixture.upstream.answer = () => Response.json({ object: 'list', data: [{ id: 'unlisted' }] })
  await call(fixture.gateway, organization.owner, `POST /connections/${id}/test`)
  fixture.reset()
  const bound = { model: 'fake/unlisted', pricing: { input: 1000, output: 1000 } }
  await call(fixture.gateway, organization.owner, `PUT /connections/${id}/models/pricing`, bound)
})
afterEach(() => {
  attempts += fixture.upstream.requests.length
  fixture.reset()
})
afterAll(async () => {
  const sql = await openDatabase(fixture.gateway.dataDir)
  await waitUntilBooked(sql, attempts)
  await expectSoundLedger(sql, { attempts })
  await sql.close()
  await fixture[Symbol.asyncDispose]()
})

async function newMember(): Promise<Customer> {
  const member = await organization.member()
  const { admin } = fixture.gateway
  await admin('PUT', `/users/${member.userId}`, { plan_id: plan })
  const grant = { user_id: member.userId, amount: 100, reason: 'test' }
  await admin('POST', '/credits/grant', grant)
  return member
}

/** Says hello, and claims to have counted that much. */
function claiming(usage: unknown, message: Json = { content: 'hello' }): void {
  fixture.upstream.answer = ({ body }) => {
    const choice = { index: 0, finish_reason: 'stop' }
    if (body['stream'] !== true) {
      const choices = [{ ...choice, message: { role: 'assistant', ...message } }]
      return Response.json({ id: 'x', object: 'chat.completion', choices, usage })
    }
    const chunks = [
      { choices: [{ index: 0, delta: { role: 'assistant', ...message }, finish_reason: null }] },
      { choices: [{ ...choice, delta: {} }] },
      { choices: [], usage },
    ]
    const events = chunks.map((chunk) => `data: ${JSON.stringify({ id: 'x', ...chunk })}\n\n`)
    const headers = { 'content-type': 'text/event-stream' }
    return new Response(`${events.join('')}data: [DONE]\n\n`, { headers })
  }
}

const huge = { prompt_tokens: 5, completion_tokens: 131_072, total_tokens: 131_077 }
const thought = { ...huge, completion_tokens_details: { reasoning_tokens: 131_000 } }

interface Charged {
  cost: bigint
  log: Json
  usage: Json
}

async function chat({ key }: Customer, model: string, fields: Json = {}): Promise<Charged> {
  const { gateway } = fixture
  const answer = await sendRequest(gateway, { key, body: { model, messages, ...fields } })
  expect(answer.status).toBe(200)
  const log = await readLog(gateway, { key }, answer)
  const cost = nanosOf(log['cost'])
  if (fields['stream'] !== true) {
    expect(nanosOf(answer.headers.get('x-tollgate-cost'))).toBe(cost)
  }
  const usage: unknown = answer.body['usage']
  return { cost, log, usage: typeof usage === 'object' && usage !== null ? { ...usage } : {} }
}

/** What counts of the tokens of a minute: told in the refusal of a request beyond the limit. */
async function usedTokens({ key }: Customer): Promise<number> {
  const body = { model: 'fake/unlisted', messages, max_tokens: tokensPerMinute + 1 }
  const { error } = await sendRequest(fixture.gateway, { key, body })
  expect(error.code).toBe('tokens_per_minute_exceeded')
  return Number(error.details?.['used'])
}

describe('finding M11: a connection’s owner claims tokens that were not sent', () => {
  test.each([
    ['plain', huge],
    ['stream', huge],
    ['plain', thought],
    ['stream', thought],
  ])('is paid for its visible answer: %s', async (kind, usage) => {
    claiming(usage)
    const member = await newMember()
    const {
      cost,
      log,
      usage: reported,
    } = await chat(member, 'fake/plain', {
      stream: kind === 'stream',
    })
    expect(cost).toBeLessThanOrEqual(BigInt(maxHelloTokens) * outputPrice + 50n * inputPrice)
    expect(log['output_tokens']).toBeWithin(1, maxHelloTokens + 1)
    // One number: in the answer, in the log, and in the limits.
    if (kind === 'plain') expect(reported['completion_tokens']).toBe(log['output_tokens'])
    expect(await usedTokens(member)).toBe(Number(log['total_tokens']))
  })

  test.each([huge, thought])(
    'is not paid extra for a model that the catalogue does not have: %j',
    async (usage) => {
      claiming(usage)
      const { cost, log } = await chat(await newMember(), 'fake/unlisted')
      expect(log['output_tokens']).toBeWithin(1, maxHelloTokens + 1)
      expect(cost).toBeLessThan(200n * boundPrice)
    },
  )

  test('is believed of thinking as far as the model can think and the hold goes, and no further', async () => {
    claiming(thought)
    const { cost, log } = await chat(await newMember(), 'fake/thinks')
    expect(log['output_tokens']).toBeWithin(30_000, 32_769)
    expect(cost).toBeLessThanOrEqual(32_768n * outputPrice + 50n * inputPrice)
    const limited = await chat(await newMember(), 'fake/thinks', { max_tokens: 100 })
    expect(limited.log['output_tokens']).toBe(100)
  })

  test('is not paid beyond the hold for text that it did send', async () => {
    const content = 'word '.repeat(40_000)
    claiming({ prompt_tokens: 5, completion_tokens: 40_000, total_tokens: 40_005 }, { content })
    const { log } = await chat(await newMember(), 'fake/plain')
    expect(log['output_tokens']).toBe(32_768)
  })

  test('is not believed of a prompt beyond the bytes of the request', async () => {
    claiming({ prompt_tokens: 900_000, completion_tokens: 2, total_tokens: 900_002 })
    const member = await newMember()
    const { log } = await chat(member, 'fake/plain')
    expect(log['input_tokens']).toBeLessThan(2000)
    expect(await usedTokens(member)).toBe(Number(log['total_tokens']))
  })
})

/** Of one who has no account to pay from. */
async function usedTokensOf({ key }: Customer): Promise<number> {
  const body = { model: 'fake/plain', messages: [{ role: 'user', content: 'x'.repeat(950_000) }] }
  const { error } = await sendRequest(fixture.gateway, { key, body: { ...body, max_tokens: 1 } })
  expect(error.code).toBe('tokens_per_minute_exceeded')
  return Number(error.details?.['used'])
}

describe('finding M12: a claim on a connection without a payer', () => {
  test('fills no limit of tokens: of an organization that pays, of the payer’s own provider', async () => {
    const company = await newOrganization(fixture)
    idIn(await company.connection({ billing_mode: 'org_pays' }))
    const member = await company.member()
    await fixture.gateway.admin('PUT', `/users/${member.userId}`, { plan_id: plan })
    claiming({ ...huge, prompt_tokens: 900_000, total_tokens: 1_031_072 })
    for (const stream of [false, true]) {
      const { log } = await chat(member, 'fake/plain', { stream })
      expect(log['output_tokens']).toBeWithin(1, maxHelloTokens + 1)
      expect(log['input_tokens']).toBeLessThan(2000)
    }
    expect(await usedTokensOf(member)).toBeLessThan(5000)
  })
})
