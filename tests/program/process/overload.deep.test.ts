import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { sendRequest, newChatClient, messages, type ChatClient } from '../../harness/http'
import { eventually, WaitTimeoutError, waitTimeoutMs } from '../../../server/testing/eventually'
import { internalUrl, scrape } from '../../harness/scrape'
import { openRaw, rawRequest } from '../../harness/raw-client'
import { startRig, type Rig } from '../../harness/server'
import { recordFigure } from '../../../server/testing/figures'

/** `OVERLOAD_SECONDS=60` for what is promised. */
const overloadSeconds = Number(process.env['OVERLOAD_SECONDS'] ?? 4)

setDefaultTimeout(90_000 + overloadSeconds * 2000)

const refused = { type: 'gateway_error', code: 'gateway_unavailable', param: null, details: {} }

interface Answered {
  status: number
  tookMs: number
  retryAfter: number
}

const times = (answers: readonly Answered[]) => answers.map(({ tookMs }) => tookMs)

const quantile = (times: readonly number[], part: number) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? Number.NaN

/** Sends requests until so many in a row have that status. Returns after how long. */
async function untilInARow(
  count: number,
  status: number,
  send: () => Promise<{ status: number }>,
): Promise<number> {
  const startedAt = performance.now()
  for (let found = 0; found < count;) {
    found = (await send()).status === status ? found + 1 : 0
    if (performance.now() - startedAt > waitTimeoutMs) {
      throw new WaitTimeoutError(`${count} times ${status} in a row`, waitTimeoutMs)
    }
  }
  return performance.now() - startedAt
}

describe('more requests than may run', () => {
  const maxRunning = 20
  /** How long the provider takes for each. */
  const upstreamMs = 300
  let rig: Rig
  let chatClient: ChatClient
  let metricsUrl: string

  beforeAll(async () => {
    rig = await startRig({
      // By the running requests alone: the event loop of a busy machine may be late as well.
      environment: {
        MOST_RUNNING_REQUESTS: String(maxRunning),
        MOST_LOOP_DELAY_MS: '0',
        METRICS_PORT: '0',
      },
    })
    chatClient = await newChatClient(rig)
    await rig.model(`slow-first-${upstreamMs}`)
    await rig.model('held-10')
    metricsUrl = await internalUrl(rig.gateway)
  })
  afterAll(() => rig[Symbol.asyncDispose]())

  /** One request, without the recorder: it is not what is measured. */
  async function chat(name = `slow-first-${upstreamMs}`): Promise<Answered> {
    const startedAt = performance.now()
    const response = await fetch(`${rig.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${chatClient.customer.key}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: `fake/${name}`, messages }),
    })
    await response.text()
    const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
    return { status: response.status, tookMs: performance.now() - startedAt, retryAfter }
  }

  /** What is answered well a second when no more are sent than may run. */
  async function peak(seconds: number): Promise<number> {
    const endMs = performance.now() + seconds * 1000
    let good = 0
    const lane = async () => {
      while (performance.now() < endMs) if ((await chat()).status === 200) good += 1
    }
    await Promise.all(Array.from({ length: maxRunning - 1 }, lane))
    return good / seconds
  }

  /** Sends so many a second, whatever becomes of them. */
  async function flood(perSecond: number, seconds: number): Promise<Answered[]> {
    const startedAt = performance.now()
    const sent: Promise<Answered>[] = []
    for (let elapsed = 0; elapsed < seconds * 1000; elapsed = performance.now() - startedAt) {
      while (sent.length < (elapsed / 1000) * perSecond) sent.push(chat())
      await Bun.sleep(5)
    }
    return Promise.all(sent)
  }

  test(`H17: with five times as many as it can for ${overloadSeconds} s it does what it can, and refuses the rest at once`, async () => {
    await chat()
    const capacity = await peak(2)
    const before = await scrape(metricsUrl)
    const asks = rig.upstream.requests().length
    const running = chatClient.stream(`chunks-20-gap-${overloadSeconds * 50}`)
    await eventually(() => rig.upstream.requests().length > asks)

    // More than fits in, also where the machine stood still while it was measured.
    const flooding = flood(Math.max(capacity * 5, 200), overloadSeconds)
    await Bun.sleep(500)
    for (const url of [`${rig.gateway.url}/healthz`, `${rig.gateway.url}/readyz`]) {
      expect((await fetch(url)).status).toBe(200)
    }
    const users = await sendRequest(rig.gateway, {
      method: 'GET',
      path: '/api/admin/users',
      key: rig.gateway.adminKey,
    })
    expect(users.status).toBe(200)

    const all = await flooding
    expect((await running).isDone).toBe(true)
    const [good, shed] = [200, 503].map((code) => all.filter(({ status }) => status === code))
    if (!good || !shed) throw new Error('nothing was answered')
    expect(good.length + shed.length).toBe(all.length)
    const goodput = good.length / overloadSeconds
    recordFigure('H17: answers under overload, of those without', (100 * goodput) / capacity, {
      unit: '%',
      atLeast: 80,
    })
    const answeredMs = quantile(times(good), 0.99)
    recordFigure('H17: p99 of answers', answeredMs, { unit: 'ms', atMost: upstreamMs + 500 })
    recordFigure('H17: p50 of refusals', quantile(times(shed), 0.5), { unit: 'ms', atMost: 20 })
    expect(good.length).toBeGreaterThanOrEqual(maxRunning)
    expect(shed.length).toBeGreaterThan(0)
    for (const { retryAfter } of shed) expect(retryAfter).toBeWithin(1, 6)

    const recoveryMs = await untilInARow(20, 200, () => chat())
    const boundMs = 20 * (upstreamMs + 250) + 5000
    recordFigure('H17: 20 answers in a row', recoveryMs, { unit: 'ms', atMost: boundMs })
    const after = await scrape(metricsUrl)
    const grown = (name: string, labels: Record<string, string>) =>
      after.sum(name, labels) - before.sum(name, labels)
    expect(grown('tollgate_shed_total', { reason: 'running' })).toBe(shed.length)
    expect(grown('tollgate_errors_total', { code: 'gateway_unavailable' })).toBe(shed.length)
  })

  test('H17: an overload error has the format and the counts of other errors, and is in the log once', async () => {
    const full = Array.from({ length: maxRunning }, () => chat('held-10'))
    await eventually(() => rig.upstream.heldCount() === maxRunning)
    const chats = await sendRequest(rig.gateway, {
      body: '{}',
      headers: { origin: 'https://a.example' },
    })
    expect([chats.status, chats.error]).toMatchObject([503, refused])
    expect(chats.headers.get('x-request-id')).toMatch(/^req_/)
    expect(chats.headers.get('access-control-allow-origin')).toBe('*')
    // However the path is written, and in the words of its callers.
    const odd = await sendRequest(rig.gateway, { path: '/v1/%63hat/completions/', body: '{}' })
    expect([odd.status, odd.error]).toMatchObject([503, refused])
    const message = await sendRequest(rig.gateway, { path: '/v1/messages', body: '{}' })
    expect([message.status, message.error.type]).toEqual([503, 'overloaded_error'])
    const models = await sendRequest(rig.gateway, {
      method: 'GET',
      path: '/v1/models',
      key: chatClient.customer.key,
    })
    expect(models.status).toBe(200)
    rig.upstream.release()
    await Promise.all(full)
    const warnings = () =>
      rig.gateway.output().split('overloaded: new requests are rejected').length - 1
    await eventually(() => warnings() > 0)
    // Once each time it begins: the test before may have been one of them.
    expect(warnings()).toBeWithin(1, 3)
    expect(rig.gateway.output()).not.toContain('is overloaded')
  })

  test('a refusal does not wait for a body', async () => {
    const full = Array.from({ length: maxRunning }, () => chat('held-10'))
    await eventually(() => rig.upstream.heldCount() === maxRunning)
    using client = await openRaw(rig.gateway.url)
    const headers = { 'content-type': 'application/json', 'content-length': '100000' }
    await client.send(rawRequest({ path: '/v1/chat/completions', headers }))
    expect((await client.response()).status).toBe(503)
    rig.upstream.release()
    await Promise.all(full)
  })
})

describe('an event loop that is late', () => {
  let rig: Rig
  let chatClient: ChatClient

  beforeAll(async () => {
    rig = await startRig({
      preload: join(import.meta.dir, 'preloads/held-loop.ts'),
      // Beyond what a busy machine is late by.
      environment: { MOST_LOOP_DELAY_MS: '200', METRICS_PORT: '0' },
    })
    chatClient = await newChatClient(rig)
  })
  afterAll(() => rig[Symbol.asyncDispose]())

  const until = (status: number, inARow: number) =>
    untilInARow(inARow, status, () => chatClient.chat('ok'))

  test('H17: all the time has a part of the requests refused, more and more, until it is on time again', async () => {
    await until(200, 5)
    process.kill(rig.gateway.pid, 'SIGUSR2')
    await until(503, 5)
    const found = await scrape(await internalUrl(rig.gateway))
    expect(found.sum('tollgate_shed_total', { reason: 'loop' })).toBeGreaterThanOrEqual(5)
    expect((await fetch(`${rig.gateway.url}/healthz`)).status).toBe(200)
    process.kill(rig.gateway.pid, 'SIGUSR2')
    recordFigure('H17: 30 answers in a row', await until(200, 30), { unit: 'ms', atMost: 30_000 })
  })
})
