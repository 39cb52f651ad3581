import { describe, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { freeze, openDatabase, postgresPid, startTwoNodes } from '../../harness/database'
import { sendRequest, messages, toStream } from '../../harness/http'
import { internalUrl, scrape } from '../../harness/scrape'
import { eventually } from '../../../server/testing/eventually'
import { newDataDir, startGateway, startRig, type Gateway, type Rig } from '../../harness/server'
import { startFakeProvider } from '../../harness/upstreams/fake-provider'
import { sendIdempotent, callsOf, readCharge, chatOf, isReplay, newKey } from './keyed'
import { recordFigure, recordTimeFigure } from '../../../server/testing/figures'

/** Two nodes, with the fake provider behind them. */
async function startNodes() {
  const stack = new AsyncDisposableStack()
  const upstream = stack.use(await startFakeProvider())
  const nodes = stack.use(await startTwoNodes({ environment: { METRICS_PORT: '0' } }))
  const { a, b } = nodes
  const base_url = upstream.url
  await a.admin('POST', '/providers', { key: 'fake', name: 'Fake', adapter: 'openai', base_url })
  await a.admin('POST', '/connections', { name: 'f', provider: 'fake', api_key: 'secret-1' })
  const reader = await a.customer()
  const model = async (name: string) => {
    const pricing = { input: 1, output: 4 }
    await a.admin('POST', '/models', { id: `fake/${name}`, name, category: 'chat', pricing })
    const listed = { method: 'GET', path: `/v1/models/fake/${name}`, key: reader.key }
    await eventually(async () => (await sendRequest(b, listed)).status === 200)
    return { model: `fake/${name}`, messages }
  }
  const seen = (name: string) => upstream.requests().filter((request) => request.model === name)
  const urls = await Promise.all([a, b].map((node) => internalUrl(node)))
  /** The number of model requests that run on both nodes, those that wait for a first one included. */
  const running = async () => {
    const scrapes = await Promise.all(urls.map((url) => scrape(url)))
    return scrapes.reduce((sum, found) => sum + found.sum('tollgate_running_requests'), 0)
  }
  return {
    ...nodes,
    upstream,
    model,
    seen,
    running,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const statusesOf = (answers: { status: number }[]) => answers.map(({ status }) => status)

describe('two nodes', () => {
  test('M10: 50 in parallel on both are one call and one charge; a stream as well', async () => {
    await using nodes = await startNodes()
    const customer = await nodes.a.customer()
    const body = await nodes.model('held-first')
    for (const [round, stream] of [false, true].entries()) {
      const key = newKey()
      const keyedRequest = { customer, key, body: { ...body, stream } }
      const asking = Array.from({ length: 50 }, (_, k) =>
        sendIdempotent(k % 2 ? nodes.a : nodes.b, keyedRequest),
      )
      await eventually(async () => (await nodes.running()) === 50)
      await nodes.upstream.releaseHeld()
      const all = await Promise.all(asking)
      expect(new Set(statusesOf(all))).toEqual(new Set([200]))
      expect(new Set(all.map(({ text }) => text)).size).toBe(1)
      expect(all.filter(isReplay)).toHaveLength(49)
      expect(nodes.seen('held-first')).toHaveLength(round + 1)
      expect((await readCharge(nodes.a, customer, round + 1)).requests).toBe(round + 1)
    }
  })

  test('a repeat on the other node receives the answer as soon as it is stored', async () => {
    await using nodes = await startNodes()
    const customer = await nodes.a.customer()
    const body = await nodes.model('held-first')
    const keyedRequest = { customer, key: newKey(), body }
    const known = [nodes.a, nodes.b].map((node) =>
      sendIdempotent(node, { ...keyedRequest, key: newKey() }),
    )
    await nodes.upstream.releaseHeld(2)
    await Promise.all(known)
    const asking = sendIdempotent(nodes.a, keyedRequest)
    await eventually(() => nodes.upstream.heldCount() === 1)
    const waiting = sendIdempotent(nodes.b, keyedRequest)
    await eventually(async () => (await nodes.running()) === 2)
    nodes.upstream.release()
    const first = await asking
    const second = await recordTimeFigure(
      'the answer on the other node',
      { atMost: 200 },
      () => waiting,
    )
    expect([isReplay(first), isReplay(second)]).toEqual([false, true])
    expect(second.text).toBe(first.text)
    expect(nodes.seen('held-first')).toHaveLength(3)
  })

  test('a repeat that waits for a dying node becomes the first itself', async () => {
    await using nodes = await startNodes()
    const customer = await nodes.a.customer()
    const body = await nodes.model('held-first')
    const keyedRequest = { customer, key: newKey(), body }
    sendIdempotent(nodes.b, keyedRequest).catch(() => undefined)
    await eventually(() => nodes.upstream.heldCount() === 1)
    const waiting = sendIdempotent(nodes.a, keyedRequest)
    await eventually(async () => (await nodes.running()) === 2)
    await nodes.b.stop('SIGKILL')
    await eventually(() => nodes.seen('held-first').length === 2)
    await nodes.upstream.releaseHeld()
    const answer = await waiting
    expect(answer.status).toBe(200)
    expect(isReplay(answer)).toBe(false)
    recordFigure('an answer after the death of its node', answer.tookMs, {
      unit: 'ms',
      atMost: 15_000,
    })
    expect(nodes.seen('held-first')).toHaveLength(2)
  })
})

test('a node that is killed and starts again takes its key over', async () => {
  const dataDir = await newDataDir()
  await using rig = await startRig({ dataDir, database: 'shared' })
  const customer = await rig.gateway.customer()
  const body = await chatOf(rig, 'held-first')
  const keyedRequest = { customer, key: newKey(), body }
  sendIdempotent(rig.gateway, keyedRequest).catch(() => undefined)
  await eventually(() => rig.upstream.heldCount() === 1)
  await rig.gateway.stop('SIGKILL')
  await using next = await startGateway({ dataDir, database: 'shared' })
  const asking = sendIdempotent(next, keyedRequest)
  await eventually(() => callsOf(rig, 'held-first').length === 2)
  await rig.upstream.releaseHeld()
  const answer = await asking
  expect(answer.status).toBe(200)
  expect(isReplay(answer)).toBe(false)
  recordFigure('an answer after a restart of its node', answer.tookMs, {
    unit: 'ms',
    atMost: 15_000,
  })
  expect(isReplay(await sendIdempotent(next, keyedRequest))).toBe(true)
  expect(callsOf(rig, 'held-first')).toHaveLength(2)
  await next.stop()
  await rm(dataDir, { recursive: true, force: true })
})

/** A customer whose key is known here, and whose account has a lease. */
async function begin(rig: Rig) {
  const customer = await rig.gateway.customer()
  const body = await chatOf(rig, 'ok')
  const plain = () => sendRequest(rig.gateway, { key: customer.key, body })
  expect((await plain()).status).toBe(200)
  return { customer, body, plain }
}

describe('while the database is away', () => {
  test('a request with a key is rejected before anything is sent; one without is not', async () => {
    await using rig = await startRig({ database: 'embedded' })
    const { customer, body, plain } = await begin(rig)
    const keyedRequest = { customer, key: newKey(), body }
    {
      using _frozen = await freeze(await postgresPid(rig.gateway.dataDir))
      const calls = callsOf(rig, 'ok').length
      const answered: string[] = []
      const [refused, free] = await Promise.all([
        sendIdempotent(rig.gateway, keyedRequest).finally(() => answered.push('keyed')),
        plain().finally(() => answered.push('plain')),
      ])
      expect(answered).toEqual(['plain', 'keyed'])
      expect(refused.status).toBe(503)
      expect(refused.error.code).toBe('gateway_unavailable')
      expect(refused.headers.get('retry-after')).not.toBeNull()
      recordFigure('a refusal with a key', refused.tookMs, { unit: 'ms', atMost: 4000 })
      expect(free.status).toBe(200)
      recordFigure('an answer without a key', free.tookMs, { unit: 'ms', atMost: 200 })
      expect(callsOf(rig, 'ok')).toHaveLength(calls + 1)
    }
    // What was asked of a frozen database may have been done once it woke.
    const again = await sendIdempotent(rig.gateway, keyedRequest)
    expect(again.status).toBe(200)
    expect(isReplay(again)).toBe(false)
    rig.gateway.recorder.verify()
  }, 180_000)

  test('a running request is answered, repeats receive its answer, and it is stored afterwards', async () => {
    await using rig = await startRig({ database: 'embedded' })
    const { customer } = await begin(rig)
    const body = await chatOf(rig, 'held-10', { stream: true })
    const keyedRequest = { customer, key: newKey(), body }
    const asking = sendIdempotent(rig.gateway, keyedRequest)
    await eventually(() => rig.upstream.heldCount() === 1)
    {
      using _frozen = await freeze(await postgresPid(rig.gateway.dataDir))
      rig.upstream.release()
      const first = await asking
      expect(toStream(first).isDone).toBe(true)
      const again = await sendIdempotent(rig.gateway, keyedRequest)
      expect(again.text).toBe(first.text)
      expect(isReplay(again)).toBe(true)
    }
    await expectStored(rig.gateway)
  }, 180_000)
})

async function expectStored({ dataDir }: Gateway): Promise<void> {
  await using sql = await openDatabase(dataDir)
  await eventually(async () => {
    const [row] = await sql`select state from idempotency_key`
    return row?.state === 'done'
  })
}
