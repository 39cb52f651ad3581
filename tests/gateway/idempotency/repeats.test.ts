import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendRaw, sendRequest, toStream, type Answer, type Json } from '../../harness/http'
import { startRig, type Customer, type Rig } from '../../harness/server'
import { sendIdempotent, callsOf, readCharge, chatOf, isReplay, newKey } from './keyed'
import { isDeep } from '../../../server/testing/depth'
import { recordTimeFigure } from '../../../server/testing/figures'
import { eventually } from '../../../server/testing/eventually'

let rig: Rig
let customer: Customer

beforeAll(async () => {
  rig = await startRig({
    environment: { EARLY_HEADERS_SECONDS: '0.3' },
  })
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

const keyed = async (key: string, name: string, fields: Json = {}) =>
  sendIdempotent(rig.gateway, { customer, key, body: await chatOf(rig, name, fields) })

const idOf = ({ headers }: { headers: Headers }) => headers.get('x-request-id')

describe('the same key with the same request', () => {
  test('M10: 50 in parallel are one call, 49 replays and one charge', async () => {
    const key = await begin()
    const asking = Array.from({ length: 50 }, () => keyed(key, 'held-first'))
    await rig.upstream.releaseHeld()
    const all = await Promise.all(asking)
    expect(callsOf(rig, 'held-first')).toHaveLength(1)
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(all.map(({ text }) => text)).size).toBe(1)
    expect(new Set(all.map(idOf)).size).toBe(1)
    expect(all.filter(isReplay)).toHaveLength(49)
    const { usd, requests, balance } = await readCharge(rig.gateway, customer, 1)
    expect(requests).toBe(1)
    expect(usd).toBeCloseTo(rig.upstream.bill('held-first').usd, 9)
    expect(balance).toBeCloseTo(1_000_000 - usd, 9)
  })

  test('later receives status, headers, body and request id of the first, and costs nothing', async () => {
    const key = await begin()
    const first = await keyed(key, 'ok')
    expect(isReplay(first)).toBe(false)
    const again = await keyed(key, 'ok')
    expect(again.status).toBe(200)
    expect(again.text).toBe(first.text)
    expect(isReplay(again)).toBe(true)
    for (const name of ['x-request-id', 'content-type', 'x-tollgate-cost', 'x-tollgate-provider']) {
      expect(again.headers.get(name)).toBe(first.headers.get(name))
    }
    const before = await readCharge(rig.gateway, customer, 1)
    await keyed(key, 'ok')
    expect(await readCharge(rig.gateway, customer, 1)).toEqual(before)
    expect(callsOf(rig, 'ok')).toHaveLength(1)
  })

  test('is known by its content, not by its spaces', async () => {
    const key = await begin()
    const body = await chatOf(rig, 'ok')
    await sendIdempotent(rig.gateway, { customer, key, body })
    const spaced = await rig.gateway.recorder.fetch(`${rig.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${customer.key}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify(body, null, 2),
    })
    expect(spaced.headers.get('x-idempotent-replay')).toBe('true')
    await spaced.text()
  })

  test('counts as a request, and not as tokens', async () => {
    const key = await begin()
    const plan = await rig.gateway.admin('POST', '/plans', {
      name: newKey(),
      requests_per_minute: 3,
      tokens_per_minute: 100,
    })
    customer = await rig.gateway.customer({}, { plan_id: plan['id'] })
    const statuses: number[] = []
    for (let round = 0; round < 4; round++) {
      statuses.push((await keyed(key, 'ok', { max_tokens: 60 })).status)
    }
    expect(statuses).toEqual([200, 200, 200, 429])
  })

  test('is replayed though the model is gone by then', async () => {
    const key = await begin()
    const model = await rig.model('ok-gone')
    await keyed(key, 'ok-gone')
    await rig.gateway.admin('PUT', `/models/${model}`, { enabled: false })
    expect(isReplay(await keyed(key, 'ok-gone'))).toBe(true)
    expect((await keyed(newKey(), 'ok-gone')).status).toBe(404)
  })

  test('M11: an error after dispatch is stored, and marks a repeat as useless', async () => {
    const key = await begin()
    const first = await keyed(key, 'status-500')
    expect(first.status).toBe(502)
    const again = await keyed(key, 'status-500')
    expect(again.status).toBe(502)
    expect(again.text).toBe(first.text)
    expect(idOf(again)).toBe(idOf(first))
    expect(isReplay(again)).toBe(true)
    expect(again.headers.get('x-should-retry')).toBe('false')
    expect(callsOf(rig, 'status-500')).toHaveLength(1)
  })

  test.each([
    ['/v1/completions', 'ok', { prompt: 'x' }],
    ['/v1/embeddings', 'ok-vectors', { input: 'x' }],
  ])('holds on %s too', async (path, name, input) => {
    const key = await begin()
    const model = await rig.model(name, 'input' in input ? { category: 'embedding' } : {})
    const body = { model, ...input }
    const first = await sendIdempotent(rig.gateway, { customer, key, path, body })
    const again = await sendIdempotent(rig.gateway, { customer, key, path, body })
    expect(first.status).toBe(200)
    expect(again.text).toBe(first.text)
    expect(isReplay(again)).toBe(true)
    expect(callsOf(rig, name)).toHaveLength(1)
  })

  if (isDeep)
    test('waits as long as a request may take, then is rejected', async () => {
      const key = await begin()
      const first = keyed(key, 'held-60', { stream: true })
      await eventually(() => rig.upstream.heldCount() === 1)
      const ended: string[] = []
      const wait = async (name: string, waiting: Promise<Answer>) => {
        const { status, error } = await waiting
        expect([status, error.code]).toEqual([504, 'request_timeout'])
        ended.push(name)
      }
      const plainBody = await chatOf(rig, 'held-first')
      const setTimer = (request_seconds: number) =>
        rig.gateway.admin('PUT', '/config', { timers: { request_seconds } })
      await setTimer(1)
      const plain = wait(
        'one second',
        sendRequest(rig.gateway, { key: customer.key, body: plainBody }),
      )
      await eventually(() => rig.upstream.heldCount() === 2)
      await setTimer(4)
      await recordTimeFigure('waiting for 4 s', { atLeast: 3900, atMost: 5000 }, () =>
        wait('four seconds', keyed(key, 'held-60', { stream: true })),
      )
      await plain
      expect(ended).toEqual(['one second', 'four seconds'])
      await setTimer(600)
      rig.upstream.release()
      expect(toStream(await first).isDone).toBe(true)
      expect(isReplay(await keyed(key, 'held-60', { stream: true }))).toBe(true)
    })
})

describe('a stream', () => {
  test('is replayed byte for byte, to waiting and to later requests', async () => {
    const key = await begin()
    const ask = () => keyed(key, 'chunks-10-gap-20', { stream: true })
    const [first, waited] = await Promise.all([ask(), ask()])
    const later = await ask()
    expect(toStream(first).isDone).toBe(true)
    expect([first, waited].filter(isReplay)).toHaveLength(1)
    for (const repeat of [waited, later]) expect(repeat.text).toBe(first.text)
    expect(idOf(later)).toBe(idOf(first))
    expect(isReplay(later)).toBe(true)
    expect(callsOf(rig, 'chunks-10-gap-20')).toHaveLength(1)
    expect((await readCharge(rig.gateway, customer, 1)).requests).toBe(1)
  })

  test('with early headers is replayed with all that followed them', async () => {
    const key = await begin()
    using client = await sendRaw(rig.gateway, {
      key: customer.key,
      headers: { 'idempotency-key': key },
      body: await chatOf(rig, 'held-event', { stream: true }),
    })
    await client.until((received) => received.includes(': ping\n\n'))
    await rig.upstream.releaseHeld()
    const first = (await client.response()).body.toString()
    const again = await keyed(key, 'held-event', { stream: true })
    expect(toStream(again).isDone).toBe(true)
    expect(toStream(again).pings).toBeGreaterThan(0)
    expect(again.text).toBe(first)
    expect(isReplay(again)).toBe(true)
  })

  test('is replayed with its error after a break', async () => {
    const key = await begin()
    const first = await keyed(key, 'rst-after-3', { stream: true })
    const again = await keyed(key, 'rst-after-3', { stream: true })
    expect(toStream(first)).toMatchObject({ isDone: false, error: { code: 'connection_failed' } })
    expect(again.text).toBe(first.text)
    expect(isReplay(again)).toBe(true)
    expect(callsOf(rig, 'rst-after-3')).toHaveLength(1)
  })

  test('is replayed with its status if it failed before its first event', async () => {
    // Early headers after 0.3 s would be a 200, where a busy machine fails later.
    await using own = await startRig()
    const body = await chatOf(own, 'status-400', { stream: true })
    const keyedRequest = { customer: await own.gateway.customer(), key: newKey(), body }
    const first = await sendIdempotent(own.gateway, keyedRequest)
    const again = await sendIdempotent(own.gateway, keyedRequest)
    expect(first.status).toBeGreaterThanOrEqual(400)
    expect([again.status, again.text]).toEqual([first.status, first.text])
    expect(callsOf(own, 'status-400')).toHaveLength(1)
  })
})
