import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { recordFigure, recordTimeFigure } from '../../../server/testing/figures'
import { residentMb, sendRequest, untilNoticed } from '../../harness/http'
import { eventually, untilPast } from '../../../server/testing/eventually'
import { openRaw, type RawClient } from '../../harness/raw-client'
import { startRig, type Customer, type Rig } from '../../harness/server'

/** The promised values are SOCKETS=4000, CONNECTIONS=9000 and KEPT_SECONDS=90. */
const sockets = Number(process.env['SOCKETS'] ?? 1000)
const connections = Number(process.env['CONNECTIONS'] ?? 3000)
/** Time between two requests of a connection; GAP_SECONDS=61 is longer than load balancers keep theirs. */
const gapSeconds = Number(process.env['GAP_SECONDS'] ?? 5)
/** Long enough to see an idle connection close; 0 skips that. */
const keptSeconds = Number(process.env['KEPT_SECONDS'] ?? 0)

setDefaultTimeout(180_000 + keptSeconds * 1000)

let rig: Rig
let customer: Customer

beforeAll(async () => {
  rig = await startRig({ environment: { LOG_LEVEL: 'warn' } })
  customer = await rig.gateway.customer()
  await rig.model('ok')
})
afterAll(() => rig[Symbol.asyncDispose]())

/** Opens many connections, some at a time, as a listener's queue is short. */
async function openMany(count: number): Promise<RawClient[]> {
  const open: RawClient[] = []
  while (open.length < count) {
    const some = Math.min(100, count - open.length)
    open.push(...(await Promise.all(Array.from({ length: some }, () => openRaw(rig.gateway.url)))))
  }
  return open
}

/** Waits until the server has ended each connection, and records how long the last one took. */
async function expectCut(name: string, clients: readonly RawClient[], atMost: number) {
  const ended = () => Promise.all(clients.map((client) => client.ended))
  expect(await recordTimeFigure(name, { atMost }, ended)).not.toContain('us')
}

/** Measures the median latency of another customer, in ms. */
async function othersMs(): Promise<number> {
  const times: number[] = []
  for (let time = 0; time < 40; time++) {
    const path = '/v1/models/fake/ok'
    const { key } = customer
    const { status, tookMs } = await sendRequest(rig.gateway, { method: 'GET', path, key })
    expect(status).toBe(200)
    times.push(tookMs)
  }
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN
}

const head = (framing: string) =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: h\r\nauthorization: Bearer ${customer.key}\r\n` +
  `content-type: application/json\r\n${framing}\r\n\r\n`

test(`H01 H02: ${sockets} partial requests, stalled and dripping bodies are cut; others are served meanwhile`, async () => {
  const before = await othersMs()
  const halves = await openMany(sockets)
  for (const client of halves) await client.send('GET /v1/models HTTP/1.1\r\nhost: h\r\nx: ')
  // The promise is 12 s, in the runtime's steps of 4 s.
  const cut = expectCut('H01: partial heads are cut after', halves, 15_000)
  const slow = await openMany(40)
  for (const client of slow) await client.send(`${head('content-length: 100000')}{"model":`)
  const bodiesCut = expectCut('H02: stalled and dripping bodies are cut after', slow, 45_000)
  // Half of them send a byte now and then, which does not count as progress.
  const dripping = setInterval(() => {
    for (const client of slow.slice(20)) void client.send(' ').catch(() => undefined)
  }, 1000)
  const during = await othersMs()
  expect((await fetch(`${rig.gateway.url}/healthz`)).status).toBe(200)
  await Promise.all([cut, bodiesCut])
  clearInterval(dripping)
  console.log(`H01: others ${before.toFixed(1)} ms before, ${during.toFixed(1)} ms during`)
  recordFigure('H01: the median of others meanwhile', during, {
    unit: 'ms',
    atMost: Math.max(10 * before, 200),
  })
  for (const client of [...halves, ...slow]) client.close()
})

test(`L04: connections idle for about ${gapSeconds} s still work`, async () => {
  const kept = await openMany(50)
  const request = `${head('content-length: 2').replace('/v1/chat/completions', '/v1/embeddings')}{}`
  for (const client of kept) {
    await client.send(request)
    expect((await client.response()).status).toBe(400)
    client.forget()
  }
  const idleSinceMs = Date.now()
  const statuses = await Promise.all(
    kept.map(async (client, index) => {
      await untilPast(idleSinceMs + gapSeconds * 1000 - 100 + index * 4)
      await client.send(request)
      return (await client.response()).status
    }),
  )
  expect(new Set(statuses)).toEqual(new Set([400]))
  for (const client of kept) client.close()
})

test(`H04: ${connections} silent connections cost little, and health checks are answered`, async () => {
  const before = residentMb(rig.gateway.pid)
  const idle = await openMany(connections)
  const name = 'H04: the health check beside silent connections'
  await recordTimeFigure(name, { atMost: 2000 }, () => untilNoticed(rig.gateway))
  const grown = residentMb(rig.gateway.pid) - before
  console.log(`H04: ${grown.toFixed(0)} MB more`)
  recordFigure('H04: memory of silent connections', grown, {
    unit: 'MB',
    atMost: 30 + connections * 0.012,
  })
  for (const client of idle) client.close()
})

/** Contents of bodies: a text of one byte a character, and one that the engine stores in two. */
const texts = [
  ['plain text', 'word '.repeat((31 << 20) / 5)],
  ['text with a character beyond Latin', `漢${'word '.repeat((31 << 20) / 5)}`],
] as const

describe.each(texts)('eight bodies of 32 MB of %s', (name, content) => {
  test.each([
    ['with a content-length', (body: Buffer) => body],
    ['in chunks', (body: Buffer) => inChunks(body)],
  ])(
    'H05: %s, of eight accounts at once, are read, and their memory comes back',
    async (...row) => {
      const [framing, framed] = row
      const { pid } = rig.gateway
      const customers = await Promise.all(Array.from({ length: 8 }, () => rig.gateway.customer()))
      const body = Buffer.from(
        JSON.stringify({ model: 'fake/ok', messages: [{ role: 'user', content }] }),
      )
      const before = residentMb(pid)
      let max = before
      const watch = setInterval(() => (max = Math.max(max, residentMb(pid))), 50)
      let rejected = 0
      const post = async ({ key }: Customer) => {
        const response = await fetch(`${rig.gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: framed(body),
        })
        const text = await response.text()
        const isRead = !text.includes('large requests')
        // Far beyond the context of the model: rejected after it was read, or on timeout.
        expect(response.status).toBeOneOf([400, 503])
        if (!isRead) rejected += 1
        return isRead
      }
      // One that waited long for room on a slow machine is sent again, as its client would.
      await Promise.all(customers.map((one) => eventually(() => post(one), 90_000)))
      clearInterval(watch)
      const grown = () => residentMb(pid) - before
      await eventually(() => grown() < 150, 60_000).catch(() => undefined)
      console.log(
        `H05: ${(max - before).toFixed(0)} MB more at most, ${grown().toFixed(0)} MB after`,
      )
      const bodies = `eight bodies of 32 MB of ${name} ${framing}`
      recordFigure(`H05: ${bodies} take at most`, max - before, { unit: 'MB', atMost: 400 })
      recordFigure(`H05: ${bodies} are rejected`, rejected, { unit: 'requests', atMost: 0 })
      recordFigure(`H05: ${bodies} leave behind`, grown(), { unit: 'MB', atMost: 250 })
    },
  )
})

test('H05: a large body uses its budget until it is sent upstream, not until it is answered', async () => {
  const model = await rig.model('held-1', { context_length: 100_000_000 })
  const customers = [await rig.gateway.customer(), await rig.gateway.customer()]
  const statuses: number[] = []
  const post = async ({ key }: Customer) => {
    const response = await fetch(`${rig.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      // The budget has room for one of them at a time.
      body: JSON.stringify({
        model,
        messages: [{ role: 'user', content: 'a'.repeat(30 << 20) }],
      }),
    })
    const text = await response.text()
    // It waited long for the other one to be read: its client would send it again.
    if (response.status === 503 && text.includes('large requests')) return false
    statuses.push(response.status)
    return true
  }
  const name = 'H05: two large bodies are both sent upstream after'
  const answering = await recordTimeFigure(name, { atMost: 18_000 }, async () => {
    const sending = Promise.all(customers.map((one) => eventually(() => post(one), 90_000)))
    // The second is sent upstream while the provider still holds the answer to the first.
    await eventually(() => rig.upstream.heldCount() === 2, 60_000)
    return () => sending
  })
  rig.upstream.release()
  await answering()
  expect(statuses).toEqual([200, 200])
})

const begun = ({ key }: Customer) =>
  head(`content-length: ${31 << 20}`).replace(customer.key, key) + '{"model":"fake/ok","x":"'

test('H05: a slow large body blocks no other client, even if its client disconnects', async () => {
  const [slow, quick] = [await rig.gateway.customer(), await rig.gateway.customer()]
  using client = await openRaw(rig.gateway.url)
  using leaving = await openRaw(rig.gateway.url)
  await leaving.send(begun(slow))
  await leaving.send(Buffer.alloc(2 << 20, 'a'))
  leaving.close()
  await client.send(begun(slow))
  await client.send(Buffer.alloc(2 << 20, 'a'))
  // Fast enough not to be cut by the runtime.
  const sending = setInterval(() => void client.send(Buffer.alloc(64 << 10, 'a')), 1000)
  await untilNoticed(rig.gateway)
  try {
    const response = await fetch(`${rig.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${quick.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'fake/ok', messages: [], x: 'a'.repeat(31 << 20) }),
    })
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining('"param":"messages"'),
    ])
  } finally {
    clearInterval(sending)
  }
  const given = await client.response()
  expect([given.status, given.body.toString()]).toEqual([503, expect.stringContaining('slowly')])
  expect(await client.ended).not.toBe('us')
})

function inChunks(body: Buffer): ReadableStream<Uint8Array> {
  const size = 256 * 1024
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at < body.length) controller.enqueue(body.subarray(at, (at += size)))
      else controller.close()
    },
  })
}

if (keptSeconds > 0) {
  test('H01: a partial second request on a kept-alive connection is cut as well', async () => {
    const kept = await openMany(sockets)
    for (const client of kept) {
      await client.send('GET /healthz HTTP/1.1\r\nhost: h\r\n\r\n')
      await client.response()
      await client.send('GET /v1/models HTTP/1.1\r\nhost: h\r\nx: ')
    }
    await expectCut('H01: partial second requests are cut after', kept, keptSeconds * 1000)
    for (const client of kept) client.close()
  })
}
