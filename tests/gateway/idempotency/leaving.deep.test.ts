import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { sendRaw, toStream, type Json } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { newDataDir, startGateway, startRig, type Customer, type Rig } from '../../harness/server'
import { sendIdempotent, callsOf, readCharge, chatOf, isReplay, newKey } from './keyed'
import { recordFigure } from '../../../server/testing/figures'

let rig: Rig
let customer: Customer

beforeAll(async () => {
  rig = await startRig({ environment: { SLOW_CLIENT_SECONDS: '1' } })
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

describe('a client that disconnects', () => {
  test('a plain request finds it completed, charged and kept', async () => {
    const key = await begin()
    const client = await open(key, 'slow-first-500')
    await eventually(() => callsOf(rig, 'slow-first-500').length === 1)
    client.close()
    await Bun.sleep(100)
    const again = await keyed(key, 'slow-first-500')
    expect(again.status).toBe(200)
    expect(isReplay(again)).toBe(true)
    expect(callsOf(rig, 'slow-first-500')).toHaveLength(1)
    const { usd, requests } = await readCharge(rig.gateway, customer, 1)
    expect(requests).toBe(1)
    expect(usd).toBeCloseTo(rig.upstream.bill('slow-first-500').usd, 9)
    expect(isReplay(await keyed(key, 'slow-first-500'))).toBe(true)
  })

  test('a plain request need not come back: it is completed all the same', async () => {
    const key = await begin()
    const client = await open(key, 'slow-first-500')
    await eventually(() => callsOf(rig, 'slow-first-500').length === 1)
    client.reset()
    expect((await readCharge(rig.gateway, customer, 1)).requests).toBe(1)
    expect(rig.upstream.bill('slow-first-500').attempts).toMatchObject([{ complete: true }])
  })

  test.each(['close', 'reset', 'halfClose'] as const)(
    'a stream (%s) ends it; nothing is kept, and the key is free',
    async (how) => {
      const key = await begin()
      const client = await open(key, 'chunks-30-gap-50', { stream: true })
      await client.until((received) => received.includes(' w3'))
      client[how]()
      const tookMs = await eventually(() => callsOf(rig, 'chunks-30-gap-50')[0]?.closedAt !== null)
      recordFigure(`the end at the provider of a stream (${how})`, tookMs, {
        unit: 'ms',
        atMost: 1000,
      })
      const again = await keyed(key, 'chunks-30-gap-50', { stream: true })
      expect(isReplay(again)).toBe(false)
      expect(toStream(again).isDone).toBe(true)
      expect(callsOf(rig, 'chunks-30-gap-50')).toHaveLength(2)
    },
  )

  test('a stream before its first event: nothing is kept either', async () => {
    const key = await begin()
    const client = await open(key, 'slow-event-700', { stream: true })
    await eventually(() => callsOf(rig, 'slow-event-700').length === 1)
    client.close()
    const again = await keyed(key, 'slow-event-700', { stream: true })
    expect(isReplay(again)).toBe(false)
    expect(toStream(again).isDone).toBe(true)
  })

  test('a stream by reading nothing: the key is free once he is cut off', async () => {
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
    const first = keyed(key, 'slow-first-500')
    await eventually(() => callsOf(rig, 'slow-first-500').length === 1)
    const waiting = await open(key, 'slow-first-500')
    await Bun.sleep(100)
    waiting.close()
    expect((await first).status).toBe(200)
    expect(callsOf(rig, 'slow-first-500')).toHaveLength(1)
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
  const body = await chatOf(own, 'slow-first-1500')
  const headers = { 'idempotency-key': key }
  const client = await sendRaw(own.gateway, { key: one.key, headers, body })
  await eventually(() => callsOf(own, 'slow-first-1500').length === 1)
  client.close()
  await own.gateway.stop()
  await using next = await startGateway({ dataDir, database: 'shared' })
  const again = await sendIdempotent(next, { customer: one, key, body })
  expect(again.status).toBe(200)
  expect(isReplay(again)).toBe(true)
  expect(callsOf(own, 'slow-first-1500')).toHaveLength(1)
  expect((await readCharge(next, one, 1)).requests).toBe(1)
  await next.stop()
  await rm(dataDir, { recursive: true, force: true })
})
