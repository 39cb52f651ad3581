import { afterAll, beforeAll, expect, test } from 'bun:test'
import { defaultHello, type Agent } from '../../harness/tunnel-agent'
import { waitForValue, createShortFixture, statusOf, type GatewayFixture } from './fixture'
import { eventually } from '../../../server/testing/eventually'

/** Self-hosted gateways that flood the server with frames. */

let fixture: GatewayFixture

beforeAll(async () => {
  fixture = await createShortFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

test('a gateway that opens one socket after the other is rejected with a retry time', async () => {
  const { createGateway: theirs } = await fixture.served()
  let refused: Agent | undefined
  // Sixty may be opened within a minute, and the next minute may begin meanwhile.
  for (let count = 0; count < 130 && !refused; count++) {
    const agent = fixture.agent(theirs, { hello: null })
    if (!(await agent.opened)) refused = agent
  }
  expect(refused).toBeDefined()
})

test('G08: endless hellos block no other gateway: the newest is used, and others stay online', async () => {
  const { owner: customer, createGateway: quiet } = await fixture.served()
  const { owner: loud, agent } = await fixture.served()
  let count = 0
  const timer = setInterval(() => {
    const models = [{ provider: 'fake', name: `model-${++count}` }]
    agent.hello({ ...defaultHello, models })
  }, 5)
  const seenAt = async () => {
    const { body } = await fixture.api(customer, 'GET /gateways')
    return Array.isArray(body['gateways']) ? body['gateways'][0]?.last_heartbeat_at : undefined
  }
  const first = await seenAt()
  await eventually(() => count >= 1000, 60_000)
  await eventually(async () => (await seenAt()) !== first)
  clearInterval(timer)
  expect(await statusOf(fixture, customer, quiet.id)).toBe('online')
  await eventually(() => agent.seen('welcome').length >= 2)
  const last = `fake/model-${count}`
  await waitForValue(async () => (await fixture.chat(loud, { model: last })).status, 200)
})
