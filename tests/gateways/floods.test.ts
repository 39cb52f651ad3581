import { afterAll, beforeAll, expect, test } from 'bun:test'
import { usualHello, type Agent } from './agent-for-tests'
import { becomes, heartbeatSeconds, openGatewayStage, statusOf, type GatewayStage } from './stage'

/** Self-hosted gateways that say more than anybody needs to hear. */

let stage: GatewayStage

beforeAll(async () => {
  stage = await openGatewayStage()
})
afterAll(() => stage[Symbol.asyncDispose]())

test('a gateway that opens one socket after the other is told to come later', async () => {
  const { made: theirs } = await stage.served()
  let refused: Agent | undefined
  for (let count = 0; count < 80 && !refused; count++) {
    const agent = stage.agent(theirs, { hello: null })
    if (!(await agent.opened)) refused = agent
  }
  expect(refused).toBeDefined()
})

test('G08: hellos without end hold up nobody: the newest is taken, and others are seen to be alive', async () => {
  const { owner: somebody, made: quiet } = await stage.served()
  const { owner: loud, agent } = await stage.served()
  let count = 0
  const timer = setInterval(() => {
    const models = [{ provider: 'fake', name: `model-${++count}` }]
    agent.hello({ ...usualHello, models })
  }, 5)
  const seenAt = async () => {
    const { body } = await stage.api(somebody, 'GET /gateways')
    return Array.isArray(body['gateways']) ? body['gateways'][0]?.last_heartbeat_at : undefined
  }
  const first = await seenAt()
  await Bun.sleep(heartbeatSeconds * 1000 + 2000)
  clearInterval(timer)
  expect(await seenAt()).not.toBe(first)
  expect(await statusOf(stage, somebody, quiet.id)).toBe('online')
  // Of a thousand of them, one a second.
  expect(agent.seen('welcome').length).toBeWithin(2, 12)
  const last = `fake/model-${count}`
  await becomes(async () => (await stage.chat(loud, { model: last })).status, 200)
}, 20_000)
