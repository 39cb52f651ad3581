import { describe, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { freeze, openDatabase, postgresPid, startTwoNodes } from '../../harness/database'
import { sendRequest, messages, toStream } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { newDataDir, startGateway, startRig, type Gateway, type Rig } from '../../harness/server'
import { startFakeProvider } from '../../harness/upstreams/fake-provider'
import { sendIdempotent, callsOf, readCharge, chatOf, isReplay, newKey } from './keyed'
import { recordFigure } from '../../../server/testing/figures'

/** Two nodes, with the fake provider behind them. */
async function startNodes() {
  const stack = new AsyncDisposableStack()
  const upstream = stack.use(await startFakeProvider())
  const nodes = stack.use(await startTwoNodes())
  const { a } = nodes
  const base_url = upstream.url
  await a.admin('POST', '/providers', { key: 'fake', name: 'Fake', adapter: 'openai', base_url })
  await a.admin('POST', '/connections', { name: 'f', provider: 'fake', api_key: 'secret-1' })
  const model = async (name: string) => {
    const pricing = { input: 1, output: 4 }
    await a.admin('POST', '/models', { id: `fake/${name}`, name, category: 'chat', pricing })
    // Node B hears of it.
    await Bun.sleep(300)
    return { model: `fake/${name}`, messages }
  }
  const seen = (name: string) => upstream.requests().filter((request) => request.model === name)
  return { ...nodes, model, seen, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const statusesOf = (answers: { status: number }[]) => answers.map(({ status }) => status)

describe('two nodes', () => {
  test('M10: 50 in parallel on both are one call and one charge; a stream as well', async () => {
    await using nodes = await startNodes()
    const customer = await nodes.a.customer()
    const body = await nodes.model('slow-first-300')
    for (const [round, stream] of [false, true].entries()) {
      const key = newKey()
      const keyedRequest = { customer, key, body: { ...body, stream } }
      const all = await Promise.all(
        Array.from({ length: 50 }, (_, k) =>
          sendIdempotent(k % 2 ? nodes.a : nodes.b, keyedRequest),
        ),
      )
      expect(new Set(statusesOf(all))).toEqual(new Set([200]))
      expect(new Set(all.map(({ text }) => text)).size).toBe(1)
      expect(all.filter(isReplay)).toHaveLength(49)
      expect(nodes.seen('slow-first-300')).toHaveLength(round + 1)
      expect((await readCharge(nodes.a, customer, round + 1)).requests).toBe(round + 1)
    }
  })

  test('one that waits on the other node gets the answer as soon as it is there', async () => {
    await using nodes = await startNodes()
    const customer = await nodes.a.customer()
    const body = await nodes.model('slow-first-700')
    const keyedRequest = { customer, key: newKey(), body }
    await Promise.all(
      [nodes.a, nodes.b].map((node) => sendIdempotent(node, { ...keyedRequest, key: newKey() })),
    )
    const before = nodes.seen('slow-first-700').length
    const ask = (node: Gateway) =>
      sendIdempotent(node, keyedRequest).then((answer) => ({ answer, atMs: performance.now() }))
    const asking = ask(nodes.a)
    await eventually(() => nodes.seen('slow-first-700').length === before + 1)
    const [first, second] = await Promise.all([asking, ask(nodes.b)])
    expect([isReplay(first.answer), isReplay(second.answer)]).toEqual([false, true])
    expect(second.answer.text).toBe(first.answer.text)
    expect(nodes.seen('slow-first-700')).toHaveLength(before + 1)
    recordFigure('the answer on the other node', second.atMs - first.atMs, {
      unit: 'ms',
      atMost: 200,
    })
  })

  test('one that waits for a node that dies is the first itself', async () => {
    await using nodes = await startNodes()
    const customer = await nodes.a.customer()
    const body = await nodes.model('slow-first-2500')
    const keyedRequest = { customer, key: newKey(), body }
    sendIdempotent(nodes.b, keyedRequest).catch(() => undefined)
    await eventually(() => nodes.seen('slow-first-2500').length === 1)
    const waiting = sendIdempotent(nodes.a, keyedRequest)
    await Bun.sleep(200)
    await nodes.b.stop('SIGKILL')
    const answer = await waiting
    expect(answer.status).toBe(200)
    expect(isReplay(answer)).toBe(false)
    recordFigure('an answer after the death of its node', answer.tookMs, {
      unit: 'ms',
      atMost: 15_000,
    })
    expect(nodes.seen('slow-first-2500')).toHaveLength(2)
  })
})

test('a node that is killed and starts again takes its key over', async () => {
  const dataDir = await newDataDir()
  await using rig = await startRig({ dataDir, database: 'shared' })
  const customer = await rig.gateway.customer()
  const body = await chatOf(rig, 'slow-first-2500')
  const keyedRequest = { customer, key: newKey(), body }
  sendIdempotent(rig.gateway, keyedRequest).catch(() => undefined)
  await eventually(() => callsOf(rig, 'slow-first-2500').length === 1)
  await rig.gateway.stop('SIGKILL')
  await using next = await startGateway({ dataDir, database: 'shared' })
  const answer = await sendIdempotent(next, keyedRequest)
  expect(answer.status).toBe(200)
  expect(isReplay(answer)).toBe(false)
  recordFigure('an answer after a restart of its node', answer.tookMs, {
    unit: 'ms',
    atMost: 15_000,
  })
  expect(isReplay(await sendIdempotent(next, keyedRequest))).toBe(true)
  expect(callsOf(rig, 'slow-first-2500')).toHaveLength(2)
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
  test('a request with a key is refused before anything is sent; one without is not', async () => {
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
  })

  test('a running request is answered, repeats get it, and it is stored afterwards', async () => {
    await using rig = await startRig({ database: 'embedded' })
    const { customer } = await begin(rig)
    const body = await chatOf(rig, 'chunks-10-gap-100', { stream: true })
    const keyedRequest = { customer, key: newKey(), body }
    const asking = sendIdempotent(rig.gateway, keyedRequest)
    await eventually(() => callsOf(rig, 'chunks-10-gap-100').length === 1)
    {
      using _frozen = await freeze(await postgresPid(rig.gateway.dataDir))
      const first = await asking
      expect(toStream(first).isDone).toBe(true)
      const again = await sendIdempotent(rig.gateway, keyedRequest)
      expect(again.text).toBe(first.text)
      expect(isReplay(again)).toBe(true)
    }
    await expectStored(rig.gateway)
  })
})

async function expectStored({ dataDir }: Gateway): Promise<void> {
  await using sql = await openDatabase(dataDir)
  await eventually(async () => {
    const [row] = await sql`select state from idempotency_key`
    return row?.state === 'done'
  })
}
