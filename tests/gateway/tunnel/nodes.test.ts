import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { Agent, event, type AgentOptions } from '../../harness/tunnel-agent'
import { waitForValue } from './fixture'
import { call, createCustomer } from '../../harness/byok'
import { startTwoNodes, type TwoNodes } from '../../harness/database'
import { sendRequest, messages, type Json } from '../../harness/http'
import type { Customer, Gateway } from '../../harness/server'
import { recordTimeFigure } from '../../../server/testing/figures'

/** A gateway whose socket is on one of two nodes. */

let nodes: TwoNodes
let owner: Customer
const agents: Agent[] = []

beforeAll(async () => {
  nodes = await startTwoNodes({ environment: { MINIMUM_BALANCE_USD: '0' } })
  await nodes.a.admin('POST', '/providers', { key: 'fake', name: 'Fake', adapter: 'openai' })
  owner = await createCustomer(nodes.a)
  await waitForValue(async () => (await call(nodes.b, owner, 'GET /gateways')).status, 200)
})
afterEach(() => {
  for (const agent of agents.splice(0)) agent.kill()
})
afterAll(() => nodes[Symbol.asyncDispose]())

async function made() {
  const { body } = await call(nodes.a, owner, 'POST /gateways', { name: 'Mine' })
  return { id: String(body['id']), token: String(body['token']) }
}

/** Connects to one of the nodes, and serves. */
function connected(node: Gateway, { token }: { token: string }, options?: AgentOptions) {
  const agent = new Agent(`${node.url.replace('http', 'ws')}/gateway`, token, options)
  agents.push(agent)
  return agent.ready()
}

const chat = (node: Gateway, fields: Json = {}) =>
  sendRequest(node, { key: owner.key, body: { model: 'fake/mine', messages, ...fields } })

const statusOn = async (node: Gateway, id: string) => {
  const { body } = await call(node, owner, 'GET /gateways')
  const list: Json[] = Array.isArray(body['gateways']) ? body['gateways'] : []
  return list.find((gateway) => gateway['id'] === id)?.['status']
}

test('is shown and tested on both, and called on the node with its socket', async () => {
  const mine = await made()
  await connected(nodes.a, mine)
  expect((await chat(nodes.a)).status).toBe(200)
  for (const node of [nodes.a, nodes.b]) expect(await statusOn(node, mine.id)).toBe('online')
  const { body } = await call(nodes.b, owner, 'GET /connections')
  const [connection] = Array.isArray(body['connections']) ? body['connections'] : []
  const tested = await call(nodes.b, owner, `POST /connections/${connection.id}/test`)
  expect(tested.body).toMatchObject({ success: true, models_found: 2 })
  await waitForValue(async () => (await chat(nodes.b)).error.code, 'gateway_unavailable')
})

test('a newer socket on the other node replaces it', async () => {
  const mine = await made()
  const first = await connected(nodes.a, mine)
  const second = await connected(nodes.b, mine)
  expect((await first.closed).code).toBe(4409)
  await waitForValue(async () => (await chat(nodes.b)).status, 200)
  expect(second.seen('request').length).toBeGreaterThan(0)
  // The end of the old one says nothing of the new one, also when the node has noticed a later end.
  const later = await made()
  const closing = await connected(nodes.a, later)
  await waitForValue(() => statusOn(nodes.a, later.id), 'online')
  closing.kill()
  await waitForValue(() => statusOn(nodes.a, later.id), 'offline')
  expect(await statusOn(nodes.a, mine.id)).toBe('online')
})

test('deleted on the other node: the socket is closed', async () => {
  const mine = await made()
  const agent = await connected(nodes.b, mine)
  const { code } = await recordTimeFigure(
    'the socket on the other node',
    { atMost: 1000 },
    async () => {
      await call(nodes.a, owner, `DELETE /gateways/${mine.id}`)
      return agent.closed
    },
  )
  expect(code).toBe(4401)
})

describe('a node that stops', () => {
  test('sends gateways elsewhere, once the requests over their sockets have ended', async () => {
    const [idle, busy] = [await made(), await made()]
    const resting = await connected(nodes.b, idle)
    const working = await connected(nodes.b, busy, {
      hello: {
        version: '1',
        providers: ['fake'],
        models: [{ provider: 'fake', name: 'busy' }],
        tools: [],
      },
    })
    const running = Promise.withResolvers<string>()
    working.answer = ({ id }) => {
      working.send({ type: 'chunk', id, data: event({ content: 'Hello' }) })
      running.resolve(id)
    }
    const pending = chat(nodes.b, { model: 'fake/busy', stream: true })
    const id = await running.promise
    const stopped = nodes.b.stop()
    expect((await resting.closed).code).toBe(1001)
    const rest = event({ content: ' there.' }) + event({}, { finish_reason: 'stop' })
    working.send({ type: 'chunk', id, data: `${rest}data: [DONE]\n\n` })
    working.send({ type: 'response', id, status: 200 })
    expect((await pending).text).toEndWith('data: [DONE]\n\n')
    expect((await working.closed).code).toBe(1001)
    expect(await stopped).toBe(0)
    expect(await statusOn(nodes.a, idle.id)).toBe('offline')
    const again = await connected(nodes.a, busy)
    expect(again.seen('welcome')).toHaveLength(1)
  })
})
