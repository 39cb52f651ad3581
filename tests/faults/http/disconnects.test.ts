import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { recordFigure, recordTimeFigure } from '../../../server/testing/figures'
import { startRig, type Customer, type Rig } from '../../harness/server'
import { parseResponse, type RawClient } from '../../harness/raw-client'
import { sendRaw, memoryGrowth, messages, type Json } from '../../harness/http'
import { internalUrl, scrapeWhenBooked } from '../../harness/scrape'
import { eventually } from '../../../server/testing/eventually'

/** Longer than a busy machine lets a client wait that does read. */
const slowClientMs = 10_000
/** What the system and the gateway may hold of an unread stream. */
const maxHeldMb = 40

let rig: Rig
let customer: Customer
/** The same with early headers, which a busy machine would send before a client of the others leaves. */
let early: Rig
let earlyCustomer: Customer

beforeAll(async () => {
  rig = await startRig({
    // The memory of a process that ran other gateways has room that hides growth.
    process: 'own',
    environment: {
      SLOW_CLIENT_SECONDS: String(slowClientMs / 1000),
      METRICS_PORT: '0',
      LOG_LEVEL: 'info',
    },
  })
  customer = await rig.gateway.customer()
  early = await startRig({ environment: { EARLY_HEADERS_SECONDS: '1.5' } })
  earlyCustomer = await early.gateway.customer()
})
afterAll(async () => {
  await rig[Symbol.asyncDispose]()
  await early[Symbol.asyncDispose]()
})

const chat = '/v1/chat/completions'
const completions = '/v1/completions'
const embeddings = '/v1/embeddings'

const inputOf = (path: string): Json =>
  path === chat ? { messages } : path === completions ? { prompt: 'x' } : { input: 'x' }

/** Asks for a stream of `fake/<name>`, or for what `fields` say. */
async function open(name: string, fields: Json = {}, path = chat): Promise<RawClient> {
  const isEmbedding = path === embeddings
  const model = await rig.model(name, isEmbedding ? { category: 'embedding' } : {})
  const stream = isEmbedding ? {} : { stream: true }
  const body = { model, ...stream, ...inputOf(path), ...fields }
  return sendRaw(rig.gateway, { path, key: customer.key, body })
}

/** Events of 100 KB each. */
function largeEvents(count: number): string {
  const choices = [{ index: 0, delta: { content: 'a'.repeat(100_000) }, finish_reason: null }]
  const chunk = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'x', choices }
  return `data: ${JSON.stringify(chunk)}\n\n`.repeat(count)
}

const running = ({ upstream } = rig) =>
  upstream.requests().filter(({ closedAt }) => closedAt === null)
const isReached = (count: number) => rig.upstream.requests().length === count

/** All requests reached the provider, and then their connections were closed, by the gateway. */
async function expectAborted(on = rig): Promise<void> {
  const isOver = () => running(on).length === 0 && on.upstream.openSockets() === 0
  const abortedMs = await eventually(isOver)
  recordFigure('S01 S02 S03: a request whose client left ends at the provider after', abortedMs, {
    unit: 'ms',
    atMost: 1000,
  })
  for (const { closedBy } of on.upstream.requests()) expect(closedBy).toBe('peer')
}

const partings: [string, (client: RawClient) => void][] = [
  ['closes', (client) => client.close()],
  ['resets', (client) => client.reset()],
  ['half-closes', (client) => client.halfClose()],
]

describe.each(partings)('a caller who %s ends the request at the provider', (_how, leave) => {
  test('S02: before the first byte', async () => {
    rig.upstream.reset()
    using client = await open('held-first')
    await eventually(() => isReached(1))
    expect(client.receivedBytes).toBe(0)
    leave(client)
    await expectAborted()
  })

  test('S02: after the early headers, before the first event', async () => {
    early.upstream.reset()
    const body = { model: await early.model('held-event'), stream: true, messages }
    using client = await sendRaw(early.gateway, { key: earlyCustomer.key, body })
    await client.until((received) => parseResponse(received) !== undefined)
    leave(client)
    await expectAborted(early)
  })

  test('S01: in mid-stream', async () => {
    rig.upstream.reset()
    using client = await open('rate-50', { max_tokens: 1000 })
    await client.until((received) => received.includes(' w3'))
    leave(client)
    await expectAborted()
    const [seen] = rig.upstream.requests()
    // It has 1,000 at 50 a second.
    expect(seen?.chunksSent).toBeLessThan(1000)
    recordFigure('S01: chunks sent to a client that left after three', seen?.chunksSent ?? 0, {
      unit: 'chunks',
      atMost: 20,
    })
  })

  test('S03: while the provider is silent', async () => {
    rig.upstream.reset()
    using client = await open('stall-after-3')
    await client.until((received) => received.includes(' w3'))
    leave(client)
    await expectAborted()
  })

  test.each([
    [1, chat, { stream: false }],
    [1, completions, { stream: false }],
    [3, completions, { stream: false, prompt: ['a', 'b', 'c'] }],
    // As a stream they are asked one after the other.
    [1, completions, { prompt: ['a', 'b', 'c'] }],
    [1, embeddings, {}],
  ])('S02: with %d to wait for, %s %j', async (count, path, fields) => {
    rig.upstream.reset()
    const name = path === embeddings ? 'held-first~embedding' : 'held-first'
    using client = await open(name, fields, path)
    await eventually(() => isReached(count))
    leave(client)
    await expectAborted()
  })

  test('S02: with half of a plain answer there', async () => {
    rig.upstream.reset()
    using client = await open('stall-after-3', { stream: false })
    await eventually(() => rig.upstream.requests()[0]?.chunksSent === 3)
    leave(client)
    await expectAborted()
  })
})

test('P03: 200 clients that disconnect leave no open connection, and no error in the log', async () => {
  rig.upstream.reset()
  for (const name of ['held-first', 'held-event', 'rate-50', 'stall-after-3']) {
    for (const [, leave] of partings.slice(0, 2)) {
      const clients = await Promise.all(
        Array.from({ length: 25 }, () => open(name, { max_tokens: 1000 })),
      )
      for (const client of clients) leave(client)
    }
  }
  // Some left before their request was even sent on.
  await scrapeWhenBooked(await internalUrl(rig.gateway))
  await expectAborted()
  const errors = rig.gateway
    .output()
    .split('\n')
    .filter((line) => /"level":[56]0/.test(line))
  expect(errors).toEqual([])
  using client = await open('ok')
  expect((await client.response()).status).toBe(200)
})

describe('a slow reader', () => {
  test('S12: a client that reads nothing pauses the provider, and is cut off in time', async () => {
    rig.upstream.reset()
    // Large, so that what the system holds between us is soon full, on a busy machine too.
    const pieceBytes = 10_000
    const name = 'S12: a client that reads nothing is cut off after'
    // From before the request: while this process stands still, it reads nothing either.
    using client = await recordTimeFigure(name, { atLeast: slowClientMs * 0.9 }, async () => {
      const opened = await open(`endless-${pieceBytes}`)
      await opened.until((received) => received.length > 1000)
      opened.stopReading()
      await eventually(() => running().length === 0)
      return opened
    })
    const [seen] = rig.upstream.requests()
    expect(seen?.closedBy).toBe('peer')
    const sentMb = ((seen?.chunksSent ?? 0) * pieceBytes) / (1 << 20)
    console.log(`S12: ${sentMb.toFixed(1)} MB were sent`)
    expect(sentMb).toBeLessThan(maxHeldMb)
    client.resumeReading()
    expect(await client.ended).toBe('reset')
    expect(client.read().toString()).not.toContain('[DONE]')
  })

  test('S12: a client that reads nothing of 150 MB uses a part of that memory', async () => {
    rig.upstream.reset()
    rig.upstream.serve('large', largeEvents(1500))
    const grownMb = await memoryGrowth(rig.gateway.pid, async () => {
      using client = await open('large')
      await client.until((received) => received.length > 1000)
      client.stopReading()
      await eventually(() => isReached(1) && running().length === 0)
    })
    recordFigure('S12: memory of 150 MB that a client does not read', grownMb, {
      unit: 'MB',
      atMost: 60,
    })
  })

  test('S11: a client that keeps reading receives everything, at any speed', async () => {
    rig.upstream.reset()
    const count = 500
    rig.upstream.serve('large', `${largeEvents(count)}data: [DONE]\n\n`)
    const body = { model: await rig.model('large'), stream: true, messages }
    // The end of the connection tells of that of the answer, without joining what came again and again.
    const headers = { connection: 'close' }
    using client = await sendRaw(rig.gateway, { key: customer.key, body, headers })
    // Longer than a client has that reads nothing.
    await client.readSlowly(1_000_000, slowClientMs * 1.2)
    // More is there than the system holds: the gateway waited for this client all the time.
    expect(running()).toHaveLength(1)
    client.resumeReading()
    await client.ended
    const { body: whole, isWhole } = await client.response()
    expect(isWhole).toBe(true)
    const text = whole.toString()
    expect(text).toEndWith('data: [DONE]\n\n')
    expect(text.match(/"content":"/g)?.length).toBeWithin(count, count + 2)
    expect(text).not.toContain('"error"')
  })
})
