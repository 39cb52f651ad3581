import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { openDatabase } from '../harness/database'
import { expectSoundLedger } from '../harness/ledger-oracle'
import {
  accountOf,
  findBooked,
  findBookedOnce,
  priceOf,
  startBilling,
  type Billing,
} from '../harness/ledger'
import { sendRequest, memoryGrowth, messages } from '../harness/http'
import { eventually } from '../../server/testing/eventually'
import { newDataDir, startGateway } from '../harness/server'
import { startFakeProvider, type FakeProvider } from '../harness/upstreams/fake-provider'
import { countBooked, eventOf, idOf, running, openStream } from './open-stream'
import { internalUrl, scrape, scrapeWhenBooked } from '../harness/scrape'
import { recordFigure, recordTimeFigure } from '../../server/testing/figures'

const dollar = 1_000_000_000n
const maxDrains = 32
let bill: Billing
/** Stand for Groq, which bills the whole of an aborted answer, and a local server, which bills nothing. */
let billsAll: FakeProvider
let billsNothing: FakeProvider

/** Starts a gateway with both as providers, in its own process: memory of earlier gateways would hide growth. */
async function open(environment: Record<string, string> = {}, dataDir?: string): Promise<Billing> {
  const opened = await startBilling({
    process: 'own',
    ...(dataDir !== undefined && { dataDir, database: 'shared' }),
    environment: {
      // It tells where the metrics are.
      LOG_LEVEL: 'info',
      METRICS_PORT: '0',
      GROQ_API_KEY: 'gsk_0123456789abcdef',
      GROQ_BASE_URL: billsAll.url,
      ...environment,
    },
  })
  await opened.rig.gateway.admin('POST', '/connections', {
    name: 'local',
    provider: 'local',
    endpoint_url: billsNothing.url,
  })
  return opened
}

beforeAll(async () => {
  billsAll = await startFakeProvider()
  billsNothing = await startFakeProvider()
  bill = await open()
})
afterEach(() => {
  billsAll.reset()
  billsNothing.reset()
  bill.rig.upstream.reset()
})
afterAll(async () => {
  await scrapeWhenBooked(await internalUrl(bill.rig.gateway))
  bill.rig.gateway.recorder.verify()
  await expectSoundLedger(bill.sql)
  await bill[Symbol.asyncDispose]()
  await billsAll[Symbol.asyncDispose]()
  await billsNothing[Symbol.asyncDispose]()
})

/** Waits until so many answers are read on whose clients have left. */
async function untilDrained({ rig }: Billing, count: number): Promise<void> {
  const url = await internalUrl(rig.gateway)
  await eventually(async () => (await scrape(url)).sum('tollgate_drains') === count)
}

const completed = () => billsAll.bill().attempts.filter(({ complete }) => complete)
/** What a request of these tests reads, by the provider's count. */
const promptTokens = 2

describe('S01: a client that disconnects, at a provider that bills the whole answer', () => {
  test('pays for the whole answer, by the count at its end', async () => {
    const customer = await bill.customer(dollar)
    using client = await openStream(bill, customer, { name: 'groq/held-40+bill-full' })
    await client.until((received) => received.includes(' w3'))
    client.close()
    await untilDrained(bill, 1)
    // A later event is booked, and nothing of this one while the provider goes on.
    await findBookedOnce(bill.sql, await bill.chat(await bill.customer(dollar), 'ok'))
    expect((await accountOf(bill.sql, customer)).posted).toBe(dollar)
    expect(running(billsAll)).toHaveLength(1)
    billsAll.release()
    const event = await eventOf(bill, client)
    expect(event).toMatchObject({ outcome: 'cancelled', estimated: false, writtenOff: 0n })
    expect(event.cost).toBe(priceOf(promptTokens, 40))
    expect(event.cost).toBe(BigInt(billsAll.bill().attempts[0]?.nanos ?? 0))
    expect((await accountOf(bill.sql, customer)).posted).toBe(dollar - event.cost)
  })

  test('S02: before the first event, too', async () => {
    const customer = await bill.customer(dollar)
    using client = await openStream(bill, customer, { name: 'groq/held-event+bill-full' })
    await eventually(() => billsAll.heldCount() === 1)
    client.close()
    await untilDrained(bill, 1)
    billsAll.release()
    await eventually(() => completed().length === 1)
    await eventually(async () => (await accountOf(bill.sql, customer)).posted !== dollar)
    const cost = BigInt(billsAll.bill().attempts[0]?.nanos ?? 0)
    expect(cost).toBeGreaterThan(priceOf(promptTokens, 0))
    expect((await accountOf(bill.sql, customer)).posted).toBe(dollar - cost)
  })

  test('gives its place back at once, and its hold at the end', async () => {
    const plan = await bill.rig.gateway.admin('POST', '/plans', {
      name: 'one at a time',
      requests_per_minute: 1000,
      concurrent_requests: 1,
    })
    const credit = 30_000_000n
    const customer = await bill.rig.gateway.customer(
      {},
      { plan_id: plan['id'], credit: Number(credit) / 1e9 },
    )
    const { key } = customer
    using client = await openStream(bill, customer, { name: 'groq/held-60+bill-full' })
    await client.until((received) => received.includes(' w3'))
    const model = await bill.rig.model('ok')
    const ok = (max_tokens: number) =>
      sendRequest(bill.rig.gateway, { key, body: { model, messages, max_tokens } })
    expect((await ok(10)).status).toBe(429)
    client.close()
    await eventually(async () => (await ok(10)).status === 200)
    // More than half of the credit is held.
    await ok(4096)
    expect(bill.rig.upstream.requests().at(-1)?.cap).toBeWithin(1000, 4000)
    expect(running(billsAll)).toHaveLength(1)
    billsAll.release()
    await eventOf(bill, client)
    await ok(4096)
    expect(bill.rig.upstream.requests().at(-1)?.cap).toBe(4096)
  })

  test('S02: gives its place back before the first event, too', async () => {
    // Of its own, whose end is that of an answer that would be read on for long.
    await using own = await open()
    const { gateway } = own.rig
    const limits = { requests_per_minute: 1000, concurrent_requests: 1 }
    const plan = await gateway.admin('POST', '/plans', { name: 'one at once', ...limits })
    const customer = await gateway.customer({}, { plan_id: plan['id'] })
    using client = await openStream(own, customer, { name: 'groq/held-event+bill-full' })
    await eventually(() => billsAll.heldCount() === 1)
    client.close()
    const body = { model: await own.rig.model('ok'), messages }
    const ask = () => sendRequest(gateway, { key: customer.key, body })
    await eventually(async () => (await ask()).status === 200)
    expect(completed()).toHaveLength(0)
  })

  test('S03: with a silent provider is aborted, and it is estimated', async () => {
    // Long enough that the client has left by then.
    await using short = await open({ IDLE_TIMEOUT_SECONDS: '5' })
    const customer = await short.customer(dollar)
    using client = await openStream(short, customer, { name: 'groq/stall-after-3' })
    await client.until((received) => received.includes(' w3'))
    client.close()
    const event = await eventOf(short, client)
    expect(event).toMatchObject({ outcome: 'cancelled', estimated: true })
    expect(event.outputTokens).toBeWithin(3, 10)
    await eventually(() => running(billsAll).length === 0)
  })

  test('S09: receives an error when its time is up, and pays for the whole answer', async () => {
    // Long enough that the provider has begun by then.
    await using short = await open({ STREAM_TIMEOUT_SECONDS: '5' })
    const customer = await short.customer(dollar)
    const options = { name: 'groq/held-100+bill-full' }
    using client = await recordTimeFigure(
      'S09: an error frame after 5 s',
      { atLeast: 4900, atMost: 6000 },
      async () => {
        const opened = await openStream(short, customer, options)
        await opened.until((received) => received.includes('"request_timeout"'))
        return opened
      },
    )
    await untilDrained(short, 1)
    billsAll.release()
    expect((await client.response()).body.toString()).not.toContain('[DONE]')
    const event = await eventOf(short, client)
    expect(event).toMatchObject({ outcome: 'request_timeout', estimated: false, writtenOff: 0n })
    expect(event.cost).toBe(priceOf(promptTokens, 100))
    expect((await accountOf(short.sql, customer)).posted).toBe(dollar - event.cost)
  })

  test('S08: after an explicit zero pays nothing', async () => {
    const customer = await bill.customer(dollar)
    using client = await openStream(bill, customer, { name: 'groq/usage-zero' })
    await client.until((received) => received.includes('"content"'))
    client.close()
    expect(await eventOf(bill, client)).toMatchObject({ cost: 0n, estimated: false })
  })

  test('pays as many prompts of a legacy completion as it sent', async () => {
    const customer = await bill.customer(dollar)
    const path = '/v1/completions'
    const prompt = ['one', 'two', 'three']
    using client = await openStream(bill, customer, { name: 'groq/held-20', path, prompt })
    await eventually(() => billsAll.heldCount() === 1)
    billsAll.release()
    await client.until((received) => received.includes('"index":1'))
    client.close()
    await untilDrained(bill, 1)
    await eventually(() => billsAll.heldCount() === 1)
    billsAll.release()
    const event = await eventOf(bill, client)
    expect(billsAll.requests()).toHaveLength(2)
    expect(event).toMatchObject({ outputTokens: 40, estimated: false })
  })
})

test('S10: of 100 clients that disconnect, 32 answers are read to the end, the rest are aborted', async () => {
  // Of one account half as many would be.
  const [one, other] = [await bill.customer(100n * dollar), await bill.customer(100n * dollar)]
  const name = 'groq/held-20+bill-full'
  const clients = await Promise.all(
    Array.from({ length: 100 }, (_, k) => openStream(bill, k % 2 === 0 ? one : other, { name })),
  )
  await Promise.all(clients.map((client) => client.until((received) => received.includes(' w19'))))
  const ids = clients.map(idOf)
  const grownMb = await memoryGrowth(bill.rig.gateway.pid, async () => {
    for (const client of clients) client.reset()
    // Those that are aborted are booked while the others wait.
    await eventually(async () => (await countBooked(bill, ids)) >= clients.length - maxDrains)
    expect(running(billsAll)).toHaveLength(maxDrains)
    billsAll.release()
    await eventually(() => completed().length === maxDrains)
  })
  const events = await findBooked(bill.sql, ids)
  const drained = events.filter(({ estimated }) => !estimated)
  expect(drained).toHaveLength(maxDrains)
  for (const { cost } of drained) expect(cost).toBe(priceOf(promptTokens, 20))
  for (const event of events.filter(({ estimated }) => estimated)) {
    expect(event).toMatchObject({ outcome: 'cancelled', writtenOff: 0n })
    // 19 words of four characters at most; no tokenizer makes more than a token of each.
    expect(event.outputTokens).toBeWithin(3, 4 * 19 + 1)
  }
  recordFigure(`S10: memory for ${maxDrains} answers`, grownMb, { unit: 'MB', atMost: 50 })
}, 120_000)

describe('a client that disconnects, at a provider that bills nothing then', () => {
  test('S01: pays nothing, and the request at the provider is cancelled', async () => {
    const customer = await bill.customer(dollar)
    using client = await openStream(bill, customer, { name: 'local/held-1000', max_tokens: 1000 })
    await client.until((received) => received.includes(' w20'))
    client.close()
    const tookMs = await eventually(() => running(billsNothing).length === 0)
    recordFigure('S01: cancelling at the provider', tookMs, { unit: 'ms', atMost: 1000 })
    const event = await eventOf(bill, client)
    expect(event).toMatchObject({ outcome: 'cancelled', cost: 0n })
    expect(event.outputTokens).toBeGreaterThan(10)
    expect((await accountOf(bill.sql, customer)).posted).toBe(dollar)
  })

  test('S06: pays for an answer that was finished', async () => {
    const customer = await bill.customer(dollar)
    using client = await openStream(bill, customer, { name: 'local/chunks-20' })
    await client.until((received) => received.includes('[DONE]'))
    client.close()
    expect(await eventOf(bill, client)).toMatchObject({
      outcome: 'ok',
      cost: priceOf(promptTokens, 20),
    })
  })
})

test('a stopping process ends drained answers, and books them', async () => {
  const dataDir = await newDataDir()
  const count = 5
  {
    await using other = await open({ DRAIN_SECONDS: '20' }, dataDir)
    const customer = await other.customer(dollar)
    for (let index = 0; index < count; index++) {
      using client = await openStream(other, customer, { name: 'groq/held-1000' })
      await client.until((received) => received.includes(' w3'))
    }
    await untilDrained(other, count)
    expect(running(billsAll)).toHaveLength(count)
    const name = `a stop while ${count} answers are read on`
    const code = await recordTimeFigure(name, { atMost: 10_000 }, () => other.rig.gateway.stop())
    expect(code).toBe(0)
    await eventually(() => running(billsAll).length === 0)
  }
  await using again = await startGateway({ dataDir, database: 'shared' })
  const sql = await openDatabase(again.dataDir)
  const events = await sql`
    select distinct outcome, state, estimated, count(*) over () as count from usage_event`
  expect(events).toHaveLength(1)
  expect(events[0]).toMatchObject({ outcome: 'cancelled', state: 'settled', estimated: true })
  expect(Number(events[0].count)).toBe(count)
  await sql.close()
})
