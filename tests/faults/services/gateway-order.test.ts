import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { startNodes, type Nodes } from '../../harness/nodes'
import { call, createCustomer } from '../../harness/byok'
import { Agent } from '../../harness/tunnel-agent'
import { waitForValue } from '../../gateway/tunnel/fixture'
import { eventually } from '../../../server/testing/eventually'
import { sendRequest, messages } from '../../harness/http'
import type { Customer, Gateway } from '../../harness/server'

/** Two sockets of one gateway, recorded in another order than they were opened. */

let nodes: Nodes
let owner: Customer
const agents: Agent[] = []

beforeAll(async () => {
  nodes = await startNodes(2)
  owner = await createCustomer(nodes.at(0))
}, 180_000)
afterEach(() => {
  for (const agent of agents.splice(0)) agent.kill()
})
afterAll(() => nodes[Symbol.asyncDispose]())

const connected = (node: Gateway, token: string) => {
  const agent = new Agent(`${node.url.replace('http', 'ws')}/gateway`, token)
  agents.push(agent)
  return agent
}

test('the newest socket stays, and only the older one is closed as replaced', async () => {
  const [first, second] = [nodes.at(0), nodes.at(1)]
  const { body } = await call(first, owner, 'POST /gateways', { name: 'Mine' })
  const token = String(body['token'])
  // The record of the older socket reaches the database after that of the newer one.
  nodes.wireOf(0).delay(300)
  const older = connected(first, token)
  expect(await older.opened).toBe(true)
  const newer = await connected(second, token).ready()
  const ended: [string, number][] = []
  void older.closed.then(({ code }) => ended.push(['older', code]))
  void newer.closed.then(({ code }) => ended.push(['newer', code]))
  await eventually(() => ended.length > 0)
  expect(ended).toEqual([['older', 4409]])
  // What the first node asked of the database before is done, and what it heard of it too.
  expect((await call(first, owner, 'GET /gateways')).status).toBe(200)
  nodes.wireOf(0).delay(0)
  const look = async () => {
    const { status } = await sendRequest(second, {
      key: owner.key,
      body: { model: 'fake/mine', messages },
    })
    return status
  }
  await waitForValue(look, 200)
  expect(newer.seen('request').length).toBeGreaterThan(0)
  expect(ended).toHaveLength(1)
}, 120_000)
