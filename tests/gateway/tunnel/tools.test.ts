import { afterAll, beforeAll, expect, test } from 'bun:test'
import { completion, defaultHello, type Agent, type Frame } from '../../harness/tunnel-agent'
import { createGatewayFixture, type GatewayFixture } from './fixture'
import { z } from 'zod'
import type { Json } from '../../harness/http'
import type { Customer } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'

const Body = z.object({
  messages: z.array(z.object({ role: z.string(), content: z.unknown() })),
})
const schema = { type: 'object', properties: { a: { type: 'number' } } }
const tools = ['add', 'forget'].map((name) => ({ name, description: name, parameters: schema }))

let fixture: GatewayFixture

beforeAll(async () => {
  fixture = await createGatewayFixture()
})
afterAll(async () => {
  fixture.gateway.recorder.verify()
  await fixture[Symbol.asyncDispose]()
})

/** Answers as a model that asks for a tool, until a result is there. */
const asksFor = (name: string) => (agent: Agent) => (request: Frame) => {
  const { messages } = Body.parse(request['body'])
  const result = messages.findLast(({ role }) => role === 'tool')
  if (result) return agent.whole(request, completion(`It is ${String(result['content'])}.`))
  const call = { id: 'call_1', type: 'function', function: { name, arguments: '{"a":2}' } }
  const message = { role: 'assistant', content: null, tool_calls: [call] }
  const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
  agent.whole(request, completion('', { choices }))
}

async function sessionOf(owner: Customer, gatewayId: string, more: Json = {}) {
  const { status, body, text } = await fixture.api(owner, 'POST /automation/sessions', {
    modelId: 'fake/mine',
    sessionType: 'automation',
    gatewayId,
    ...more,
  })
  if (status !== 201) throw new Error(`${status}: ${text}`)
  return String(body['id'])
}

const say = (owner: Customer, session: string) =>
  fixture.api(owner, `POST /automation/sessions/${session}/messages`, { content: 'Add.' })

test('the tools of a session run on its gateway, and their results go back to the model', async () => {
  const { owner, createGateway, agent } = await fixture.served({
    hello: { ...defaultHello, tools },
  })
  agent.answer = asksFor('add')(agent)
  agent.runs = (call) =>
    agent.send({ type: 'tool_result', id: call.id, content: '4', is_error: false })
  const session = await sessionOf(owner, createGateway.id)
  const { status, body } = await say(owner, session)
  expect(status).toBe(201)
  expect(body).toMatchObject({
    assistantMessage: { content: 'It is 4.' },
    toolMessages: [{ role: 'tool', content: '4', tool_call_id: 'call_1' }],
  })
  expect(agent.seen('tool_call')).toMatchObject([{ name: 'add', arguments: { a: 2 } }])
})

test('a failing tool returns an error to the model, a forbidden one never reaches the gateway', async () => {
  const { owner, createGateway, agent } = await fixture.served({
    hello: { ...defaultHello, tools },
  })
  agent.answer = asksFor('add')(agent)
  agent.runs = ({ id }) =>
    agent.send({ type: 'error', id, code: 'tool_failed', message: 'no disk' })
  const failed = await say(owner, await sessionOf(owner, createGateway.id))
  expect(failed.body['assistantMessage']).toMatchObject({ content: 'It is Error: no disk.' })
  const before = agent.seen('tool_call').length
  const refused = await say(
    owner,
    await sessionOf(owner, createGateway.id, { disabledTools: ['add'] }),
  )
  expect(refused.body['toolMessages']).toMatchObject([
    { content: expect.stringContaining('It was not run.') },
  ])
  expect(agent.seen('tool_call')).toHaveLength(before)
})

test('a gateway that is lost while a tool runs ends the message, and is not called again', async () => {
  const { owner, createGateway, agent } = await fixture.served({
    hello: { ...defaultHello, tools },
  })
  agent.answer = asksFor('add')(agent)
  agent.runs = () => agent.kill()
  const lost = await say(owner, await sessionOf(owner, createGateway.id))
  expect([lost.status, lost.error.code]).toEqual([502, 'connection_failed'])
  expect(lost.headers.get('x-should-retry')).toBe('false')
})

test('a client that disconnects cancels its running tool', async () => {
  const { owner, createGateway, agent } = await fixture.served({
    hello: { ...defaultHello, tools },
  })
  agent.answer = asksFor('add')(agent)
  const running = Promise.withResolvers<Frame>()
  agent.runs = (call) => running.resolve(call)
  const session = await sessionOf(owner, createGateway.id)
  const leaving = new AbortController()
  const pending = fetch(`${fixture.gateway.url}/api/automation/sessions/${session}/messages`, {
    method: 'POST',
    signal: leaving.signal,
    headers: { authorization: `Bearer ${owner.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ content: 'Add.' }),
  }).catch(() => undefined)
  const { id } = await running.promise
  leaving.abort()
  await pending
  await eventually(() => agent.seen('cancel').some((frame) => frame.id === id))
})
