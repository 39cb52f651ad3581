import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { sendRaw, toStream, untilNoticed, type Json } from '../../harness/http'
import { internalUrl, scrape } from '../../harness/scrape'
import { eventually } from '../../../server/testing/eventually'
import { newDataDir, startGateway, startRig, type Customer, type Rig } from '../../harness/server'
import { sendIdempotent, callsOf, readCharge, chatOf, isReplay, newKey } from './keyed'
import { recordFigure } from '../../../server/testing/figures'

let rig: Rig
let customer: Customer
let metrics: string

beforeAll(async () => {
  // Longer than a busy machine lets a client wait that does read.
  rig = await startRig({ environment: { SLOW_CLIENT_SECONDS: '6', METRICS_PORT: '0' } })
  metrics = await internalUrl(rig.gateway)
})
afterAll(async () => {
  rig.gateway.recorder.verify()
  await rig[Symbol.asyncDispose]()
})

async function begin() {
  rig.upstream.reset()
  customer = await rig.gateway.customer()
  return newKey()
}

async function open(key: string, name: string, fields: Json = {}) {
  const body = await chatOf(rig, name, fields)
  const headers = { 'idempotency-key': key }
  return sendRaw(rig.gateway, { key: customer.key, headers, body })
}

const keyed = async (key: string, name: string, fields: Json = {}) =>
  sendIdempotent(rig.gateway, { customer, key, body: await chatOf(rig, name, fields) })

const running = async () => (await scrape(metrics)).sum('tollgate_running_requests')

describe('a client that disconnects', () => {
  test('a plain request finds it completed, charged and kept', async () => {
    const key = await begin()
    const client = await open(key, 'held-first')
    await eventually(() => rig.upstream.heldCount() === 1)
    client.close()
    await untilNoticed(rig.gateway)
    const asking = keyed(key, 'held-first')
    await eventually(async () => (await running()) === 2)
    rig.upstream.release()
    const again = await asking
    expect(again.status).toBe(200)
    expect(isReplay(again)).toBe(true)
    expect(callsOf(rig, 'held-first')).toHaveLength(1)
    const { usd, requests } = await readCharge(rig.gateway, customer, 1)
    expect(requests).toBe(1)
    expect(usd).toBeCloseTo(rig.upstream.bill('held-first').usd, 9)
    expect(isReplay(await keyed(key, 'held-first'))).toBe(true)
  })

  test('a plain request need not come back: it still completes', async () => {
    const key = await begin()
    const client = await open(key, 'held-first')
    await eventually(() => rig.upstream.heldCount() === 1)
    client.reset()
    await untilNoticed(rig.gateway)
    rig.upstream.release()
    expect((await readCharge(rig.gateway, customer, 1)).requests).toBe(1)
    expect(rig.upstream.bill('held-first').attempts).toMatchObject([{ complete: true }])
  })

  test.each(['close', 'reset', 'halfClose'] as const)(
    'a stream (%s) ends it; nothing is kept, and the key is free',
    async (how) => {
      const key = await begin()
      const client = await open(key, 'held-30', { stream: true })
      await client.until((received) => received.includes(' w3'))
      client[how]()
      const tookMs = await eventually(() => callsOf(rig, 'held-30')[0]?.closedAt !== null)
      recordFigure(`the end at the provider of a stream (${how})`, tookMs, {
        unit: 'ms',
        atMost: 1000,
      })
      const asking = keyed(key, 'held-30', { stream: true })
      await rig.upstream.releaseHeld()
      const again = await asking
      expect(isReplay(again)).toBe(false)
      expect(toStream(again).isDone).toBe(true)
      expect(callsOf(rig, 'held-30')).toHaveLength(2)
    },
  )

  test('a stream before its first event: nothing is kept either', async () => {
    const key = await begin()
    const client = await open(key, 'held-event', { stream: true })
    await eventually(() => rig.upstream.heldCount() === 1)
    client.close()
    await eventually(() => rig.upstream.heldCount() === 0)
    const asking = keyed(key, 'held-event', { stream: true })
    await rig.upstream.releaseHeld()
    const again = await asking
    expect(isReplay(again)).toBe(false)
    expect(toStream(again).isDone).toBe(true)
  })

  test('a stream by reading nothing: the key is free after its client is cut off', async () => {
    const key = await begin()
    using client = await open(key, 'endless', { stream: true })
    await client.until((received) => received.length > 1000)
    client.stopReading()
    const again = await open(key, 'endless', { stream: true })
    await again.until((received) => received.includes(' more'))
    expect(callsOf(rig, 'endless')).toHaveLength(2)
    again.close()
  })

  test('while it waits for a first request: that continues', async () => {
    const key = await begin()
    const first = keyed(key, 'held-first')
    await eventually(() => rig.upstream.heldCount() === 1)
    const waiting = await open(key, 'held-first')
    await eventually(async () => (await running()) === 2)
    waiting.close()
    await untilNoticed(rig.gateway)
    rig.upstream.release()
    expect((await first).status).toBe(200)
    expect(callsOf(rig, 'held-first')).toHaveLength(1)
  })
})

test('an answer beyond 8 MB is given, and not kept', async () => {
  const key = await begin()
  const first = await keyed(key, 'chunks-1300000')
  expect(first.text.length).toBeGreaterThan(8 * 1024 * 1024)
  const again = await keyed(key, 'chunks-1300000')
  expect(isReplay(again)).toBe(false)
  expect(callsOf(rig, 'chunks-1300000')).toHaveLength(2)
})

test('a stop waits for a plain request that its caller left, and it is kept', async () => {
  const dataDir = await newDataDir()
  await using own = await startRig({ dataDir, database: 'shared' })
  const one = await own.gateway.customer()
  const key = newKey()
  const body = await chatOf(own, 'held-first')
  const headers = { 'idempotency-key': key }
  const client = await sendRaw(own.gateway, { key: one.key, headers, body })
  await eventually(() => own.upstream.heldCount() === 1)
  client.close()
  const stopped = own.gateway.stop()
  // Nothing new is taken: it is stopping.
  await eventually(async () => {
    const ready = await fetch(`${own.gateway.url}/readyz`).catch(() => undefined)
    return ready?.status !== 200
  })
  own.upstream.release()
  await stopped
  await using next = await startGateway({ dataDir, database: 'shared' })
  const again = await sendIdempotent(next, { customer: one, key, body })
  expect(again.status).toBe(200)
  expect(isReplay(again)).toBe(true)
  expect(callsOf(own, 'held-first')).toHaveLength(1)
  expect((await readCharge(next, one, 1)).requests).toBe(1)
  await next.stop()
  await rm(dataDir, { recursive: true, force: true })
})
