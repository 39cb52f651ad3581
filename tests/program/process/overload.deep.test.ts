import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { sendRequest, newChatClient, messages, type ChatClient } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { internalUrl, scrape, scrapeWhenBooked } from '../../harness/scrape'
import { openRaw, rawRequest } from '../../harness/raw-client'
import { startRig, type Rig } from '../../harness/server'
import { recordFigure } from '../../../server/testing/figures'

// Each starts a process.
setDefaultTimeout(90_000)

const refused = { type: 'gateway_error', code: 'gateway_unavailable', param: null, details: {} }

/** Waits until so many requests in a row have that status. Resolves with the milliseconds that it took. */
const untilInARow = (count: number, status: number, send: () => Promise<{ status: number }>) =>
  eventually(async () => {
    for (let found = 0; found < count; found++) {
      if ((await send()).status !== status) return false
    }
    return true
  })

describe('more requests than may run', () => {
  const maxRunning = 20
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
    for (const name of ['ok', 'held-10']) await rig.model(name)
    metricsUrl = await internalUrl(rig.gateway)
  })
  afterAll(() => rig[Symbol.asyncDispose]())

  /** One request, without the recorder: hundreds come at once. */
  async function chat(name = 'ok') {
    const response = await fetch(`${rig.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${chatClient.customer.key}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: `fake/${name}`, messages }),
    })
    await response.text()
    return { status: response.status, retryAfter: Number(response.headers.get('retry-after')) }
  }

  /** As many as may run, one of them a stream, all of which wait for the test. */
  async function fill() {
    const stream = chatClient.stream('held-10')
    const plain = Array.from({ length: maxRunning - 1 }, () => chat('held-10'))
    await eventually(() => rig.upstream.heldCount() === maxRunning)
    return { stream, plain }
  }

  test('H17: at five times its capacity it serves its capacity, and rejects the rest at once', async () => {
    const before = await scrape(metricsUrl)
    const flood = maxRunning * 5
    const rounds = 3
    for (let round = 0; round < rounds; round++) {
      const { stream, plain } = await fill()
      const requests = rig.upstream.requests().length
      // Answered while all that was admitted still runs.
      const shed = await Promise.all(Array.from({ length: flood }, () => chat()))
      for (const { status, retryAfter } of shed) {
        expect(status).toBe(503)
        expect(retryAfter).toBeWithin(1, 6)
      }
      expect(rig.upstream.requests()).toHaveLength(requests)
      for (const url of [`${rig.gateway.url}/healthz`, `${rig.gateway.url}/readyz`]) {
        expect((await fetch(url)).status).toBe(200)
      }
      const path = '/api/admin/users'
      const key = rig.gateway.adminKey
      expect((await sendRequest(rig.gateway, { method: 'GET', path, key })).status).toBe(200)

      rig.upstream.release()
      expect((await stream).isDone).toBe(true)
      for (const { status } of await Promise.all(plain)) expect(status).toBe(200)
      for (let nth = 0; nth < 20; nth++) expect((await chat()).status).toBe(200)
      // All places are free, also that of the stream.
      await scrapeWhenBooked(metricsUrl)
    }
    const after = await scrape(metricsUrl)
    const grown = (name: string, labels: Record<string, string>) =>
      after.sum(name, labels) - before.sum(name, labels)
    expect(grown('tollgate_shed_total', { reason: 'running' })).toBe(rounds * flood)
    expect(grown('tollgate_errors_total', { code: 'gateway_unavailable' })).toBe(rounds * flood)
  })

  test('H17: an overload error has the format and the counts of other errors; the log has where it begins and ends', async () => {
    const { stream, plain } = await fill()
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
    await Promise.all([stream, ...plain])
    const changes = () =>
      [...rig.gateway.output().matchAll(/"msg":"(no longer overloaded|overloaded)/g)].map(
        ([, change]) => change,
      )
    await eventually(() => changes().length > 0)
    // One line each time, not one a request.
    const expected = ['overloaded', 'no longer overloaded']
    expect(changes()).toEqual(changes().map((_, at) => expected[at % 2]))
    expect(rig.gateway.output()).not.toContain('is overloaded')
  })

  test('a refusal does not wait for a body', async () => {
    const { stream, plain } = await fill()
    using client = await openRaw(rig.gateway.url)
    const headers = { 'content-type': 'application/json', 'content-length': '100000' }
    await client.send(rawRequest({ path: '/v1/chat/completions', headers }))
    expect((await client.response()).status).toBe(503)
    rig.upstream.release()
    await Promise.all([stream, ...plain])
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
