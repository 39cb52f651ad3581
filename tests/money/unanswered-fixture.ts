import { afterAll, afterEach, beforeAll, expect } from 'bun:test'
import { expectSoundLedger } from '../harness/ledger-oracle'
import { accountOf, startBilling, priceOf, type Booked, type Billing } from '../harness/ledger'
import { sendRequest, sendRaw, type Json } from '../harness/http'
import { eventually, WaitTimeoutError, waitTimeoutMs } from '../../server/testing/eventually'
import { internalUrl, scrape, scrapeWhenBooked } from '../harness/scrape'
import type { Customer } from '../harness/server'
import { startFakeProvider, type FakeProvider } from '../harness/upstreams/fake-provider'

/** M10: what a provider was sent is paid, whether its answer reached the caller or not. */

export const dollar = 1_000_000_000n
export const tokensPerMinute = 100_000
/** About 2,000 tokens, and exactly 2,000 as the fake provider counts. */
export const longText = 'word '.repeat(2000)
export const messages = [{ role: 'user', content: longText }]
export const [minPromptTokens, maxPromptTokens] = [1500, 3000]

export let billing: Billing
/** Stands for Groq, which bills the whole of an answer that is aborted. */
export let billsAll: FakeProvider
/** Stands for a server of one's own, which bills nothing. */
let billsNothing: FakeProvider
let plan: unknown

/** Of a gateway whose time for an answer is up soon, though not before a busy machine has sent the request. */
export const impatient = { REQUEST_TIMEOUT_SECONDS: '6', FIRST_BYTE_TIMEOUT_SECONDS: '5' }

/** Opens it for the tests of a file, or of the `describe` that calls this. */
export function useUnansweredFixture(environment: Record<string, string> = {}): void {
  beforeAll(async () => {
    models = new Map()
    billsAll = await startFakeProvider()
    billsNothing = await startFakeProvider()
    billing = await startBilling({
      environment: {
        // It tells where the metrics are.
        LOG_LEVEL: 'info',
        ...environment,
        GROQ_API_KEY: 'gsk_0123456789abcdef',
        GROQ_BASE_URL: billsAll.url,
        METRICS_PORT: '0',
      },
    })
    const { admin } = billing.rig.gateway
    await admin('POST', '/connections', {
      name: 'local',
      provider: 'local',
      endpoint_url: billsNothing.url,
    })
    const limits = { requests_per_minute: 1000, concurrent_requests: 100 }
    const made = await admin('POST', '/plans', {
      name: 'counted',
      ...limits,
      tokens_per_minute: tokensPerMinute,
    })
    plan = made['id']
  })
  afterEach(() => {
    for (const upstream of [billing.rig.upstream, billsAll, billsNothing]) upstream.reset()
  })
  afterAll(async () => {
    await untilBooked()
    billing.rig.gateway.recorder.verify()
    await expectSoundLedger(billing.sql)
    await billing[Symbol.asyncDispose]()
    await billsAll[Symbol.asyncDispose]()
    await billsNothing[Symbol.asyncDispose]()
  })
}

export const newCustomer = () => billing.rig.gateway.customer({}, { plan_id: plan, credit: 1 })

let models = new Map<string, Promise<unknown>>()

/** Registers a model of a built-in provider, at the prices of the rig. */
export async function modelOf(id: string, fields: Json = {}): Promise<string> {
  if (id.startsWith('fake/')) return billing.rig.model(id.slice('fake/'.length), fields)
  const sizes = { context_length: 8192, max_output_tokens: 4096 }
  const model = { id, name: id, category: 'chat', ...sizes, pricing: { input: 1, output: 4 } }
  const adding =
    models.get(id) ?? billing.rig.gateway.admin('POST', '/models', { ...model, ...fields })
  models.set(id, adding)
  await adding
  return id
}

const upstreamOf = (id: string) =>
  id.startsWith('groq/') ? billsAll : id.startsWith('local/') ? billsNothing : billing.rig.upstream

export interface DisconnectOptions {
  path?: string
  model?: Json
  body?: Json
}

/** Asks, and leaves once the provider has the request, or `afterMs` later. */
export async function sendAndDisconnect(
  { key }: Customer,
  id: string,
  { path, model, body }: DisconnectOptions = {},
) {
  const own = { model: await modelOf(id, model), ...(path ? {} : { messages }), ...body }
  const upstream = upstreamOf(id)
  const before = upstream.requests().length
  using client = await sendRaw(billing.rig.gateway, {
    key,
    body: own,
    ...(path && { path }),
  })
  await eventually(() => upstream.requests().length > before)
  client.close()
}

/** Waits until so many answers are read on whose callers have left. */
export async function untilDrained(count: number): Promise<void> {
  const url = await internalUrl(billing.rig.gateway)
  await eventually(async () => (await scrape(url)).sum('tollgate_drains') === count)
}

/** Waits until no request runs, and all that was settled is booked. */
export const untilBooked = async () => scrapeWhenBooked(await internalUrl(billing.rig.gateway))

/** The one event of a customer, once it is booked. */
export async function eventOf({ userId }: Customer): Promise<Booked> {
  const deadline = performance.now() + waitTimeoutMs
  for (;;) {
    const [row, ...others] = await billing.sql`
      select outcome, estimated, input_tokens, output_tokens, cost, written_off
      from usage_event where user_id = ${userId}`
    if (others.length > 0) throw new Error(`${others.length + 1} events`)
    if (row) {
      return {
        ...row,
        inputTokens: Number(row.input_tokens),
        outputTokens: Number(row.output_tokens),
        cost: BigInt(row.cost),
        writtenOff: BigInt(row.written_off),
      }
    }
    if (performance.now() > deadline) throw new WaitTimeoutError('an event', waitTimeoutMs)
    await Bun.sleep(50)
  }
}

/** What counts of the tokens of a minute: told in the refusal of a request beyond the limit. */
export async function usedTokens({ key }: Customer): Promise<number> {
  const model = await billing.rig.model('roomy', {
    max_output_tokens: 500_000,
    context_length: null,
  })
  const body = { model, messages: [{ role: 'user', content: 'x' }], max_tokens: tokensPerMinute }
  const { status, error } = await sendRequest(billing.rig.gateway, { key, body })
  expect([status, error.code]).toEqual([429, 'tokens_per_minute_exceeded'])
  return Number(error.details?.['used'])
}

/** The prompt was charged and nothing else, and it still counts in the minute. */
export async function expectPromptPaid(customer: Customer, outcome: string): Promise<void> {
  const event = await eventOf(customer)
  expect(event).toMatchObject({ outcome, estimated: true, outputTokens: 0, writtenOff: 0n })
  expect(event.inputTokens).toBeWithin(minPromptTokens, maxPromptTokens)
  expect(event.cost).toBe(priceOf(event.inputTokens, 0))
  expect((await accountOf(billing.sql, customer)).posted).toBe(dollar - event.cost)
  expect(await usedTokens(customer)).toBe(event.inputTokens)
}

export async function expectNothingPaid(customer: Customer): Promise<Booked> {
  const event = await eventOf(customer)
  expect(event.cost).toBe(0n)
  expect((await accountOf(billing.sql, customer)).posted).toBe(dollar)
  return event
}
