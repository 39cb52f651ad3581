import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTwoNodes, type TwoNodes } from '../../harness/database'
import { sendRequest, messages } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { recordFigure } from '../../../server/testing/figures'
import { dayWaitMs, untilDayLasts } from '../../../server/testing/calendar'
import type { Customer, Gateway } from '../../harness/server'
import { startFakeProvider, type FakeProvider } from '../../harness/upstreams/fake-provider'

let nodes: TwoNodes
let upstream: FakeProvider

beforeAll(async () => {
  await untilDayLasts()
  upstream = await startFakeProvider()
  nodes = await startTwoNodes()
  const { a } = nodes
  const base_url = upstream.url
  await a.admin('POST', '/providers', { key: 'fake', name: 'Fake', adapter: 'openai', base_url })
  await a.admin('POST', '/connections', { name: 'f', provider: 'fake', api_key: 'secret-1' })
  await a.admin('POST', '/models', {
    id: 'fake/ok',
    name: 'ok',
    category: 'chat',
    max_output_tokens: 4096,
    pricing: { input: 1, output: 4 },
  })
}, 30_000 + dayWaitMs)
afterAll(async () => {
  for (const { recorder } of [nodes.a, nodes.b]) recorder.verify()
  await nodes[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

const chat = (node: Gateway, { key }: Customer) =>
  sendRequest(node, { key, body: { model: 'fake/ok', messages, max_tokens: 256 } })

/** Asks until it is refused; returns how often it was served. */
async function useUp(node: Gateway, customer: Customer, status: number): Promise<number> {
  for (let served = 0; served < 200; served++) {
    const answer = await chat(node, customer)
    if (answer.status === status) return served
    expect(answer.status).toBe(200)
  }
  throw new Error('it was never refused')
}

/** Whether a node rejects the account by its month: before it reads a body, which is none here, so that nothing is counted. */
async function isUsedUpOn(node: Gateway, { key }: Customer): Promise<boolean> {
  const { status } = await sendRequest(node, { key, body: 'not json' })
  expect([400, 429]).toContain(status)
  return status === 429
}

/** Waits until each node has read sums that were booked after this call, of all accounts that it knows. */
async function untilRead(): Promise<void> {
  const { a, b } = nodes
  const plan = await a.admin('POST', '/plans', {
    name: crypto.randomUUID(),
    monthly_requests: 1,
  })
  for (const [here, there] of [
    [a, b],
    [b, a],
  ] as const) {
    const witness = await a.customer({}, { plan_id: plan['id'] })
    expect(await isUsedUpOn(there, witness)).toBe(false)
    expect((await chat(here, witness)).status).toBe(200)
    await eventually(() => isUsedUpOn(there, witness))
  }
}

test('usage of one node is seen by the other, requests and spending', async () => {
  const { a, b } = nodes
  const plan = await a.admin('POST', '/plans', { name: 'by requests', monthly_requests: 20 })
  const byRequests = await a.customer({}, { plan_id: plan['id'] })
  const bySpending = await a.customer({ monthly_spend_limit: 0.01 })
  // Both nodes know both of them from before.
  for (const customer of [byRequests, bySpending])
    await eventually(async () => (await chat(b, customer)).status === 200)
  expect(await useUp(a, byRequests, 429)).toBeWithin(19, 21)
  await useUp(a, bySpending, 402)
  const tookMs = await eventually(() => isUsedUpOn(b, byRequests))
  recordFigure('usage on the other node', tookMs, { unit: 'ms', atMost: 5000 })
  expect((await chat(b, byRequests)).status).toBe(429)
  await untilRead()
  await eventually(async () => {
    const [refused, there] = [await chat(b, bySpending), await chat(a, bySpending)]
    const isRefused = refused.status === 402 && refused.error.code === 'insufficient_credits'
    return isRefused && Bun.deepEquals(refused.error.details, there.error.details)
  })
})

test('both at once admit exactly as many as the limit allows', async () => {
  const { a, b } = nodes
  const plan = await a.admin('POST', '/plans', { name: 'at once', monthly_requests: 30 })
  const customer = await a.customer({}, { plan_id: plan['id'] })
  const served = await Promise.all([useUp(a, customer, 429), useUp(b, customer, 429)])
  expect(served.reduce((sum, one) => sum + one, 0)).toBe(30)
  for (const node of [a, b]) expect((await chat(node, customer)).status).toBe(429)
  console.log(`30 a month on two nodes at once: ${served.join(' and ')}`)
})
