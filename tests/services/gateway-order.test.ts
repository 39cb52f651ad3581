import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { startNodes, type Nodes } from './nodes'
import { call, newSomebody } from '../connections/stage'
import { Agent } from '../gateways/agent-for-tests'
import { becomes } from '../gateways/stage'
import { ask, messages } from '../faults/asking'
import type { Customer, Gateway } from '../rig'

/** Two sockets of one gateway, recorded in another order than they were opened. */

let nodes: Nodes
let owner: Customer
const agents: Agent[] = []

beforeAll(async () => {
  nodes = await startNodes(2)
  owner = await newSomebody(nodes.at(0))
}, 60_000)
afterEach(() => {
  for (const agent of agents.splice(0)) agent.kill()
})
afterAll(() => nodes[Symbol.asyncDispose]())

const connected = (node: Gateway, token: string) => {
  const agent = new Agent(`${node.url.replace('http', 'ws')}/gateway`, token)
  agents.push(agent)
  return agent
}

const endOf = async (name: string, agent: Agent) => [name, (await agent.closed).code]

test('the newest socket stays, and only the older one is told that it was replaced', async () => {
  const [first, second] = [nodes.at(0), nodes.at(1)]
  const { body } = await call(first, owner, 'POST /gateways', { name: 'Mine' })
  const token = String(body['token'])
  // The record of the older socket reaches the database after that of the newer one.
  nodes.wireOf(0).delay(300)
  const older = connected(first, token)
  expect(await older.opened).toBe(true)
  const newer = await connected(second, token).ready()
  const ends = [endOf('older', older), endOf('newer', newer)]
  expect(await Promise.race([...ends, Bun.sleep(5000)])).toEqual(['older', 4409])
  nodes.wireOf(0).delay(0)
  expect(await Promise.race([ends[1], Bun.sleep(1500)])).toBeUndefined()
  const look = async () => {
    const { status } = await ask(second, { key: owner.key, body: { model: 'fake/mine', messages } })
    return status
  }
  await becomes(look, 200)
}, 30_000)
