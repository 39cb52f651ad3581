import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RunningConnect } from './run-connect'
import { call, createCustomer } from '../../harness/byok'
import { z } from 'zod'
import { startGateway, type Customer, type Gateway } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'

const program = join(import.meta.dir, '../../../connect/src/tools/program-for-tests.ts')
/** Asks for both tools one after the other, and then says what they gave. */
const steps = [
  { name: 'mine_add', arguments: '{"a":2,"b":40}' },
  { name: 'mine_fail', arguments: '{}' },
]

let folder: string
let gateway: Gateway
let owner: Customer
let agent: RunningConnect
let gatewayId: string

function streamed(head: object, usage: object): Response {
  const chunk = (more: object) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...more })}\n\n`
  const piece = (delta: object, finish_reason: string | null = null) =>
    chunk({ choices: [{ index: 0, delta, finish_reason }] })
  const events = [
    piece({ content: 'Hello ' }),
    piece({ content: 'there' }),
    piece({}, 'stop'),
    chunk({ choices: [], usage }),
    'data: [DONE]\n\n',
  ]
  return new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } })
}

const Asked = z.object({
  messages: z.array(z.object({ role: z.string(), content: z.string().nullish() })),
  stream: z.boolean().optional(),
  tools: z.array(z.unknown()).optional(),
})

/** A server of the OpenAI format, as a customer runs it on a machine of their own. */
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    if (request.method === 'GET') return Response.json({ object: 'list', data: [{ id: 'mine' }] })
    const { messages, stream, tools } = Asked.parse(await request.json())
    const results = messages.filter(({ role }) => role === 'tool')
    const step = tools && steps[results.length]
    const summary = `Done: ${results.map(({ content }) => content).join(', ')}`
    const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
    const head = { id: 'chatcmpl-1', created: 1, model: 'mine' }
    if (stream) return streamed(head, usage)
    const tool_calls = step && [{ id: `call_${results.length}`, type: 'function', function: step }]
    const message = {
      role: 'assistant',
      content: step ? null : summary,
      ...(step && { tool_calls }),
    }
    const choices = [{ index: 0, message, finish_reason: step ? 'tool_calls' : 'stop' }]
    return Response.json({ ...head, object: 'chat.completion', choices, usage })
  },
})

beforeAll(async () => {
  gateway = await startGateway()
  await gateway.admin('POST', '/providers', { key: 'home', name: 'Home', adapter: 'openai' })
  owner = await createCustomer(gateway)
  const made = await call(gateway, owner, 'POST /gateways', { name: 'At home' })
  gatewayId = String(made.body['id'])
  folder = await mkdtemp(join(tmpdir(), 'tollgate-whole-'))
  const config = join(folder, 'connect.json')
  await writeFile(
    config,
    JSON.stringify({
      servers: [{ provider: 'home', base_url: `http://127.0.0.1:${server.port}/v1` }],
      tools: [{ name: 'mine', command: process.execPath, args: [program], allow: ['add', 'fail'] }],
    }),
  )
  agent = new RunningConnect(['--url', gateway.url, '--config', config, '--json'], {
    TOLLGATE_GATEWAY_TOKEN: String(made.body['token']),
  })
  const serves = async () => {
    const { text } = await call(gateway, owner, 'GET /gateways')
    return text.includes('"status":"online"') && text.includes('"tool_count":2')
  }
  await eventually(serves)
})
afterAll(async () => {
  await agent[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
  await server.stop(true)
  await rm(folder, { recursive: true })
})

const chatRequest = { model: 'home/mine', messages: [{ role: 'user' as const, content: 'Hello' }] }

test('G01: a model of a local machine is called by the unmodified client, whole and streamed', async () => {
  const { client } = owner
  const whole = await client.chat.completions.create(chatRequest)
  expect(whole.choices[0]?.message.content).toBe('Done: ')
  expect(whole.usage?.total_tokens).toBe(10)
  let text = ''
  for await (const chunk of await client.chat.completions.create({
    ...chatRequest,
    stream: true,
  })) {
    text += chunk.choices[0]?.delta.content ?? ''
  }
  expect(text).toBe('Hello there')
})

test('an automation session completes a task with two tools of a program on that machine', async () => {
  const session = await call(gateway, owner, 'POST /automation/sessions', {
    modelId: 'home/mine',
    sessionType: 'automation',
    gatewayId,
  })
  const path = `/automation/sessions/${String(session.body['id'])}`
  const answer = await call(gateway, owner, `POST ${path}/messages`, { content: 'Add 2 and 40.' })
  expect(answer.body['assistantMessage']).toMatchObject({
    content: 'Done: 42, Error: it failed with nothing',
  })
  expect(answer.body['toolMessages']).toMatchObject([{ content: '42' }, {}])
  const { body } = await call(gateway, owner, `GET ${path}/conversation`)
  expect(body['messages']).toMatchObject(
    ['user', 'assistant', 'tool', 'assistant', 'tool', 'assistant'].map((role) => ({ role })),
  )
})

test('deleting the gateway ends the program, with a message and its own exit code', async () => {
  expect((await call(gateway, owner, `DELETE /gateways/${gatewayId}`)).status).toBe(200)
  expect(await agent.ended()).toBe(3)
  const { status } = await owner.client.chat.completions
    .create(chatRequest)
    .then(() => ({ status: 200 }))
    .catch((thrown: unknown) => ({ status: Reflect.get(Object(thrown), 'status') }))
  expect(status).toBe(404)
})
