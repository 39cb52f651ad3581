import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { postgresOf, untilRead } from './launch'
import {
  newChatClient,
  request as sendUnread,
  sendRaw,
  messages,
  toStream,
  type Failure,
} from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { openRaw, parseResponse, rawRequest } from '../../harness/raw-client'
import { newDataDir, startRig, type Rig } from '../../harness/server'
import { recordTimeFigure, type FigureBound } from '../../../server/testing/figures'

// Each starts a process and its database.
setDefaultTimeout(90_000)

/** `DRAIN_SECONDS` beyond the time of a test: one that waits for it does not end. */
const longSeconds = '300'

const directories: string[] = []
afterEach(async () => {
  for (const path of directories.splice(0)) await rm(path, { recursive: true, force: true })
})

/** A rig in a directory of the test's own, so that it is there to look at afterwards. */
async function start(environment: Record<string, string>): Promise<Rig> {
  const dataDir = await newDataDir('started')
  directories.push(dataDir)
  // A gateway that runs for seconds warns of mails that wait for a mail server: those to its new accounts.
  const quiet = { LOG_LEVEL: 'warn', MAIL_SECONDS: '3600' }
  return startRig({ dataDir, environment: { ...quiet, ...environment } })
}

/** Whether a request on a connection of its own gets an answer that is none of a stopping server. */
async function serves(rig: Rig): Promise<boolean> {
  try {
    using client = await openRaw(rig.gateway.url)
    await client.send(rawRequest({ method: 'GET', path: '/readyz' }))
    return (await client.response()).status !== 503
  } catch {
    return false
  }
}

/** Whether it takes connections. It sends no request, which a stopping server would refuse and log. */
async function isListening(rig: Rig): Promise<boolean> {
  try {
    using _client = await openRaw(rig.gateway.url)
    return true
  } catch {
    return false
  }
}

/** Stops a gateway, and records how long it took. Resolves with its exit code. */
const stopped = (rig: Rig, name: string, bound: FigureBound) =>
  recordTimeFigure(name, bound, () => rig.gateway.stop('SIGTERM'))

describe('L01: a stop lets running requests end', () => {
  test('streams and plain requests are answered whole, new ones are rejected', async () => {
    await using rig = await start({ DRAIN_SECONDS: longSeconds })
    const { chat, stream, customer } = await newChatClient(rig)
    const model = await rig.model('ok')
    using idle = await openRaw(rig.gateway.url)
    const request = rawRequest({
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages }),
    })
    await idle.send(request)
    expect((await idle.response()).status).toBe(200)
    idle.forget()

    // One runs, one waits for its first event, one is plain.
    const pending = Promise.all([stream('held-20'), stream('held-first'), chat('held-first')])
    await eventually(() => rig.upstream.heldCount() === 3)
    const stopping = stopped(rig, 'L01: a stop with three requests', { atMost: 8000 })
    await eventually(async () => !(await isListening(rig)))
    expect(await serves(rig)).toBe(false)
    const asksBefore = rig.upstream.requests().length
    await idle.send(request).catch(() => undefined)
    rig.upstream.release()

    const [running, waiting, plain] = await pending
    expect(running.content).toStartWith('w1 w2')
    expect(running.content).toEndWith('w20')
    expect([running.isDone, waiting.isDone]).toEqual([true, true])
    expect(waiting.content).toBe('All is well at the fake provider today, thank you.')
    expect(plain.status).toBe(200)
    rig.gateway.recorder.verify()

    // An idle kept connection delays nothing.
    expect(await stopping).toBe(0)
    expect(rig.upstream.requests()).toHaveLength(asksBefore)
    expect(parseResponse(idle.read())?.status).toBeOneOf([503, undefined])
    expect(postgresOf(rig.gateway.dataDir)).toEqual([])
    const complaints = rig.gateway
      .output()
      .split('\n')
      .filter((line) => /"level":[456]0/.test(line))
    expect(complaints).toEqual([])
  })

  test('for UNREADY_SECONDS it reports that it stops, and still serves clients', async () => {
    // The requests meanwhile take a second, ten more where the machine stands still.
    const unreadySeconds = 15
    const environment = { UNREADY_SECONDS: String(unreadySeconds), DRAIN_SECONDS: '60' }
    await using rig = await start(environment)
    const { chat, stream, customer } = await newChatClient(rig)
    using idle = await openRaw(rig.gateway.url)
    await rig.model('chunks-20')
    const request = rawRequest({
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: await rig.model('ok'), messages }),
    })
    await idle.send(request)
    expect((await idle.response()).headers).not.toContainEqual(['connection', 'close'])
    idle.forget()
    const name = `L01: a stop after ${unreadySeconds} s unready`
    const bound = { atLeast: unreadySeconds * 1000, atMost: unreadySeconds * 1000 + 8500 }
    const stopping = stopped(rig, name, bound)
    const readyz = () => fetch(`${rig.gateway.url}/readyz`)
    await eventually(async () => (await readyz()).status === 503)
    const ready = await readyz()
    const { error }: { error: Failure } = JSON.parse(await ready.text())
    expect(error).toMatchObject({
      code: 'gateway_unavailable',
      details: { checks: { database: true, running: false } },
    })
    expect((await fetch(`${rig.gateway.url}/healthz`)).status).toBe(200)
    // New connections and kept ones are answered, each for the last time.
    const [plain, streamed] = await Promise.all([chat('ok'), stream('chunks-20')])
    expect([plain.status, streamed.isDone]).toEqual([200, true])
    await idle.send(request)
    const last = await idle.response()
    expect(last.status).toBe(200)
    expect(last.headers).toContainEqual(['connection', 'close'])
    expect(await idle.ended).toBe('fin')
    expect(await stopping).toBe(0)
  })

  test('without anything running it ends at once, idle connections or not', async () => {
    await using rig = await start({ DRAIN_SECONDS: longSeconds })
    using silent = await openRaw(rig.gateway.url)
    using idle = await openRaw(rig.gateway.url)
    await idle.send(rawRequest({ method: 'GET', path: '/healthz' }))
    expect((await idle.response()).status).toBe(200)
    expect(await stopped(rig, 'L01: a stop with idle connections', { atMost: 8000 })).toBe(0)
    expect(silent.receivedBytes).toBe(0)
  })
})

describe('L02: beyond DRAIN_SECONDS', () => {
  const drainMs = 500

  test('streams receive an error frame, other requests a status, and the process ends', async () => {
    const drainSeconds = String(drainMs / 1000)
    // Those that wait below have none yet when it stops, though the machine stands still meanwhile.
    const earlyHeaders = { EARLY_HEADERS_SECONDS: '12' }
    await using rig = await start({ DRAIN_SECONDS: drainSeconds, ...earlyHeaders })
    const { chat, stream, customer } = await newChatClient(rig)
    // Of this one, the headers are out when the time is over, and nothing else.
    const early = await sendUnread(rig.gateway, {
      key: customer.key,
      body: { model: await rig.model('slow-first-90000'), messages, stream: true },
    })
    const { status, headers } = early
    const empty = { status, headers, body: {}, error: {}, tookMs: 0 }
    const begun = [
      stream('chunks-999-gap-50'),
      stream('stall-after-3'),
      early.text().then((text) => toStream({ ...empty, text })),
    ]
    const waiting = [stream('slow-first-90000'), chat('slow-first-90000')]
    await eventually(() => rig.upstream.requests().length === 5)
    await eventually(
      () => rig.upstream.requests().filter(({ chunksSent }) => chunksSent >= 3).length === 2,
    )
    const stopping = stopped(rig, 'L02: a stop', { atMost: drainMs + 10_000 })
    const [streams, others] = await recordTimeFigure(
      'L02: ending requests',
      { atLeast: drainMs, atMost: drainMs + 4000 },
      () => Promise.all([Promise.all(begun), Promise.all(waiting)]),
    )
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(others.map(({ status }) => status)).toEqual([503, 503])
    for (const { error, text } of [...streams, ...others]) {
      expect([error.type, error.code]).toEqual(['gateway_error', 'gateway_unavailable'])
      expect(text).not.toContain('[DONE]')
    }
    expect(streams[1]?.content).toBe('w1 w2 w3')
    rig.gateway.recorder.verify()
    expect(await stopping).toBe(0)
    expect(postgresOf(rig.gateway.dataDir)).toEqual([])
    await eventually(() => rig.upstream.openSockets() === 0)
  })
})

/** The head of a request with a JSON body, whose framing the test chooses. */
const headOf = (key: string, framing: string, path = '/api/connections') =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
  `content-type: application/json\r\n${framing}\r\n\r\n`

describe('half a body', () => {
  // In more pieces than one: the runtime has an answer out while the rest is on its way.
  for (const [what, framing, begin] of [
    ['with a length above the limit', 'content-length: 90000000', ''],
    ['growing above the limit', 'transfer-encoding: chunked', `${(8 << 20).toString(16)}\r\n`],
  ] as const) {
    test(`${what} is answered, and delays no stop`, async () => {
      await using rig = await start({ DRAIN_SECONDS: longSeconds })
      const { key } = await rig.gateway.customer()
      using client = await openRaw(rig.gateway.url)
      await client.send(`${headOf(key, framing)}${begin}`)
      void client.send('a'.repeat(4 << 20)).catch(() => undefined)
      await client.until((received) => parseResponse(received)?.isWhole ?? false)
      expect(parseResponse(client.read())?.status).toBe(400)
      const name = `a stop with half a body ${what}`
      expect(await stopped(rig, name, { atMost: 15_000 })).toBe(0)
    })
  }

  test('below the limit is waited for no longer than for an answer', async () => {
    await using rig = await start({ DRAIN_SECONDS: '1' })
    const { key } = await rig.gateway.customer()
    using client = await openRaw(rig.gateway.url)
    await client.send(`${headOf(key, 'content-length: 1000')}{"model":`)
    await untilRead(rig.gateway.url)
    expect(await stopped(rig, 'a stop with half a body', { atMost: 15_000 })).toBe(0)
  })

  test('is read to its end where it comes within DRAIN_SECONDS', async () => {
    await using rig = await start({ DRAIN_SECONDS: '60' })
    const { key } = await rig.gateway.customer()
    using client = await openRaw(rig.gateway.url)
    const body = JSON.stringify({ model: 'sandbox/echo', messages })
    const length = `content-length: ${body.length}`
    const head = headOf(key, length, '/api/user/quota/estimate-cost')
    await client.send(`${head}${body.slice(0, 20)}`)
    await untilRead(rig.gateway.url)
    const stopping = rig.gateway.stop('SIGTERM')
    await eventually(async () => !(await isListening(rig)))
    await client.send(body.slice(20))
    expect((await client.response()).status).toBe(200)
    expect(await stopping).toBe(0)
  })
})

test('a signal more than a second after the first ends it at once, with 130', async () => {
  await using rig = await start({ DRAIN_SECONDS: '60', LOG_LEVEL: 'info' })
  const { customer, stream } = await newChatClient(rig)
  const body = { model: await rig.model('stall-after-3'), stream: true, messages }
  using client = await sendRaw(rig.gateway, { key: customer.key, body })
  await client.until((received) => received.includes(' w3'))
  const held = stream('held-10')
  await eventually(() => rig.upstream.heldCount() === 1)
  // What comes within a second is taken for the same one, as a terminal and a launcher send it. Both are there when the
  // process runs again, however long this one stands still between them.
  process.kill(rig.gateway.pid, 'SIGSTOP')
  const stopping = rig.gateway.stop('SIGTERM')
  process.kill(rig.gateway.pid, 'SIGINT')
  process.kill(rig.gateway.pid, 'SIGCONT')
  await eventually(() => rig.gateway.output().includes('stopping, 2 requests running'))
  rig.upstream.release()
  expect((await held).isDone).toBe(true)
  const bound = { atMost: 2000 }
  await recordTimeFigure('the end by signals until there is one', bound, () =>
    eventually(() => {
      if (!rig.gateway.hasExited()) process.kill(rig.gateway.pid, 'SIGINT')
      return rig.gateway.hasExited()
    }),
  )
  expect(await stopping).toBe(130)
  await eventually(() => postgresOf(rig.gateway.dataDir).length === 0)
})
