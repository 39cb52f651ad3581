import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTwoNodes, type TwoNodes } from '../../harness/database'
import { sendRequest, messages } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import type { Customer, Gateway } from '../../harness/server'
import { startFakeProvider, type FakeProvider } from '../../harness/upstreams/fake-provider'

let nodes: TwoNodes
let upstream: FakeProvider

beforeAll(async () => {
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
})
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

/** Between two readings lie three seconds; what was settled is booked within one. */
const seenMs = 5000

test('what one node served is seen by the other within five seconds, requests and spending', async () => {
  const { a, b } = nodes
  const plan = await a.admin('POST', '/plans', { name: 'by requests', monthly_requests: 20 })
  const byRequests = await a.customer({}, { plan_id: plan['id'] })
  const bySpending = await a.customer({ monthly_spend_limit: 0.01 })
  // Both nodes know both of them from before.
  for (const customer of [byRequests, bySpending])
    await eventually(async () => (await chat(b, customer)).status === 200)
  expect(await useUp(a, byRequests, 429)).toBeWithin(19, 21)
  await useUp(a, bySpending, 402)
  await Bun.sleep(seenMs)
  await eventually(async () => (await chat(b, byRequests)).status === 429)
  await eventually(async () => {
    const [refused, there] = [await chat(b, bySpending), await chat(a, bySpending)]
    const isRefused = refused.status === 402 && refused.error.code === 'insufficient_credits'
    return isRefused && Bun.deepEquals(refused.error.details, there.error.details)
  })
})

test('both at once overshoot by no more than what each did not know of the other', async () => {
  const { a, b } = nodes
  const plan = await a.admin('POST', '/plans', { name: 'at once', monthly_requests: 30 })
  const customer = await a.customer({}, { plan_id: plan['id'] })
  const served = await Promise.all([useUp(a, customer, 429), useUp(b, customer, 429)])
  const all = served.reduce((sum, one) => sum + one, 0)
  // Two nodes: at most twice.
  expect(all).toBeWithin(30, 61)
  await Bun.sleep(seenMs)
  for (const node of [a, b])
    await eventually(async () => (await chat(node, customer)).status === 429)
  console.log(`30 a month on two nodes at once: ${served.join(' and ')}`)
})
