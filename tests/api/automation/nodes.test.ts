import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createSessionClient, type SessionClient } from './talk'
import { problem } from '../../harness/byok'
import { openDatabase, startTwoNodes, type TwoNodes } from '../../harness/database'
import { eventually } from '../../../server/testing/eventually'
import type { Answer } from '../../harness/http'
import type { Customer } from '../../harness/server'
import { connectProvider } from '../../harness/nodes'
import { startFakeProvider, type FakeProvider } from '../../harness/upstreams/fake-provider'

let nodes: TwoNodes
let upstream: FakeProvider
let customer: Customer
let a: SessionClient
let b: SessionClient

beforeAll(async () => {
  upstream = await startFakeProvider()
  nodes = await startTwoNodes({ ofB: { DRAIN_SECONDS: '1' } })
  await connectProvider(nodes.a, upstream)
  // `ok` last: node B knows all of them once it knows that one.
  for (const name of ['held-first', 'held-10', 'ok']) {
    const model = { id: `fake/${name}`, name, category: 'chat', pricing: { input: 1, output: 4 } }
    await nodes.a.admin('POST', '/models', model)
  }
  customer = await nodes.a.customer()
  a = createSessionClient(nodes.a, customer)
  b = createSessionClient(nodes.b, customer)
  // Once node B has heard of them.
  const session = await a.session({ modelId: 'fake/ok' })
  await eventually(async () => (await b.send(session, 'Hello?')).status === 201)
})
afterAll(async () => {
  nodes.a.recorder.verify()
  nodes.b.recorder.verify()
  await nodes[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

test('a session has one message at a time, whichever node it comes to', async () => {
  const id = await a.session({ modelId: 'fake/held-10' })
  const answers: Answer[] = []
  const sending = [a, b, a, b].map(async (node) => {
    answers.push(await node.send(id, 'Hello?'))
  })
  await eventually(() => answers.length === 3 && upstream.heldCount() === 1)
  upstream.release()
  await Promise.all(sending)
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  for (const refused of answers.filter(({ status }) => status !== 201)) {
    expect(problem(refused)).toEqual([400, null, 'wrong_state'])
  }
  expect(await b.transcript(id)).toHaveLength(2)
})

test('a session deleted at one node ends its run at the other', async () => {
  upstream.reset()
  const streaming = await a.session({ modelId: 'fake/held-10' })
  using client = await a.begin(streaming, { stream: true })
  await client.until((received) => received.includes(' w3'))
  expect((await b.api(`DELETE /sessions/${streaming}`)).status).toBe(200)
  await client.until((received) => received.includes('gateway_unavailable'))

  const plain = await a.session({ modelId: 'fake/held-first' })
  const waiting = a.send(plain, 'Hello?')
  await eventually(() => upstream.requests().length === 2)
  expect((await b.api(`DELETE /sessions/${plain}`)).status).toBe(200)
  expect(problem(await waiting)).toEqual([400, 'status', 'wrong_state'])
  await eventually(() => upstream.requests().every(({ closedAt }) => closedAt !== null))
})

test('a dead node does not keep a session: its turn expires', async () => {
  await using sql = await openDatabase(nodes.a.dataDir)
  const id = await a.session({ modelId: 'fake/ok' })
  const dead = 'req_01m7zbr7rr3rrzfbtxk7716g95'
  await sql`
    update automation_session
    set running_id = ${dead}, running_until = now() + interval '1 hour' where id = ${id}`
  expect(problem(await b.send(id, 'Hello?'))).toEqual([400, null, 'wrong_state'])
  await sql`
    update automation_session set running_until = now() - interval '1 second' where id = ${id}`
  expect((await b.send(id, 'Hello?')).status).toBe(201)
})

test('a stopping node keeps the text so far, and the session is free', async () => {
  const id = await a.session({ modelId: 'fake/held-10' })
  using client = await b.begin(id, { stream: true })
  await client.until((received) => received.includes(' w3'))
  expect(await nodes.b.stop()).toBe(0)
  await client.until((received) => received.includes('gateway_unavailable'))
  expect(client.read().toString()).toContain('gateway_unavailable')
  const [, answer] = await a.transcript(id)
  expect(answer).toContain(' w3')
  const cheap = await a.api(`PATCH /sessions/${id}`, { modelId: 'fake/ok' })
  expect(cheap.status).toBe(200)
  expect((await a.send(id, 'And?')).status).toBe(201)
})
