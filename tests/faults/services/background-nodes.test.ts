import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { eventually } from '../../../server/testing/eventually'
import { startNodes, type Nodes } from '../../harness/nodes'
import { sendRequest, parsed, type Json } from '../../harness/http'
import type { Customer, Gateway } from '../../harness/server'

setDefaultTimeout(240_000)

let nodes: Nodes
let customer: Customer

beforeAll(async () => {
  nodes = await startNodes(2)
  customer = await nodes.customer(1_000_000_000_000n)
})
afterAll(() => nodes[Symbol.asyncDispose]())

const path = '/v1/responses'

async function begin(on: Gateway, name: string): Promise<string> {
  const body = { model: await nodes.model(name), input: 'Hello.', background: true }
  const { key } = customer
  const answer = await sendRequest(on, { path, key, body })
  expect(answer.status).toBe(200)
  return String(answer.body['id'])
}

const found = async (on: Gateway, id: string): Promise<Json> => {
  const { key } = customer
  return (await sendRequest(on, { method: 'GET', path: `${path}/${id}`, key })).body
}

/** Longer than a node is believed to live that says nothing. */
const patienceMs = 120_000

async function standing(on: Gateway, id: string, wanted: RegExp): Promise<Json> {
  let response: Json = {}
  await eventually(async () => {
    response = await found(on, id)
    return wanted.test(String(response['status']))
  }, patienceMs)
  return response
}

/** Events of an answer, from one node to the end. */
async function eventsFrom(on: Gateway, id: string, query = ''): Promise<Json[]> {
  const { key } = customer
  const read = await sendRequest(on, {
    method: 'GET',
    path: `${path}/${id}?stream=true${query}`,
    key,
  })
  const lines = read.text.split('\n').filter((line) => line.startsWith('data: '))
  return lines.map((line) => parsed(line.slice('data: '.length)))
}

/** How often what the request of an answer used was booked. */
async function bookedFor(id: string): Promise<number> {
  const requestId = id.replace('resp_', 'req_')
  const read = () => nodes.sql`select id from usage_event where request_id = ${requestId}`
  await eventually(async () => (await read()).length > 0)
  return (await read()).length
}

test('a turn of a conversation is visible on another node as soon as its end is read, whole or as a stream', async () => {
  const { key } = customer
  const made = await sendRequest(nodes.at(0), { path: '/v1/conversations', key })
  const conversation = String(made.body['id'])
  const model = await nodes.model('ok')
  for (let turn = 1; turn <= 20; turn++) {
    const body = { model, input: `Turn ${turn}.`, conversation, stream: turn % 2 === 0 }
    const [on, other] = turn % 3 === 0 ? [nodes.at(1), nodes.at(0)] : [nodes.at(0), nodes.at(1)]
    expect((await sendRequest(on, { path, key, body })).status).toBe(200)
    const listed = await sendRequest(other, {
      method: 'GET',
      path: `/v1/conversations/${conversation}/items?limit=100`,
      key,
    })
    expect(listed.body['data']).toHaveLength(2 * turn)
  }
})

test('an answer that one node makes is found, cancelled and read event by event on another', async () => {
  const [here, there] = [nodes.at(0), nodes.at(1)]
  const id = await begin(here, 'slow-first-300')
  expect(await standing(there, id, /completed/)).toMatchObject({ id, background: true })
  const other = await begin(here, 'held-5')
  await standing(there, other, /in_progress/)
  const { key } = customer
  const answer = await sendRequest(there, { path: `${path}/${other}/cancel`, key })
  expect([answer.status, answer.body['status']]).toEqual([200, 'cancelled'])
  // The node that made it hears of it, and ends its request.
  expect(await bookedFor(other)).toBe(1)
  expect(await found(here, other)).toMatchObject({ status: 'cancelled' })
})

test('its events are read on another node while it is made', async () => {
  const { key } = customer
  const model = await nodes.model('chunks-20-gap-100')
  const body = { model, input: 'Hello.', background: true, stream: true }
  const controller = new AbortController()
  const response = await fetch(`${nodes.at(0).url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: controller.signal,
  })
  const first = await response.body?.getReader().read()
  const id = /resp_\w+/.exec(new TextDecoder().decode(first?.value))?.[0] ?? ''
  controller.abort()
  const events = await eventsFrom(nodes.at(1), id)
  const numbers = events.map((event) => event['sequence_number'])
  expect(numbers).toEqual([...numbers.keys()])
  expect(events.at(-1)?.['type']).toBe('response.completed')
  const rest = await eventsFrom(nodes.at(1), id, '&starting_after=4')
  expect(rest).toEqual(events.slice(5))
})

test('a response without credit has failed, and cost nothing', async () => {
  const poor = await nodes.customer(1000n)
  const { key } = poor
  const body = { model: await nodes.model('ok'), input: 'Hello.', background: true }
  const answer = await sendRequest(nodes.at(0), { path, key, body })
  expect([answer.status, answer.body['status']]).toEqual([200, 'queued'])
  const id = String(answer.body['id'])
  let response: Json = {}
  await eventually(async () => {
    response = (await sendRequest(nodes.at(1), { method: 'GET', path: `${path}/${id}`, key })).body
    return response['status'] === 'failed'
  })
  expect(response).toMatchObject({
    status: 'failed',
    error: { code: 'insufficient_quota', details: { code: 'insufficient_credits' } },
  })
  const rows = await nodes.sql`select id from usage_event where user_id = ${poor.userId}`
  expect([...rows]).toEqual([])
})

test('a stopping node lets its running responses end, within its time', async () => {
  const id = await begin(nodes.at(1), 'chunks-20-gap-100')
  expect(await nodes.at(1).stop('SIGTERM')).toBe(0)
  expect(await found(nodes.at(0), id)).toMatchObject({ status: 'completed' })
  await nodes.restart(1)
  expect(await bookedFor(id)).toBe(1)
})

test('a response that a stopping node cannot finish in time has failed, and is booked once', async () => {
  await nodes.at(1).stop('SIGTERM')
  await nodes.restart(1, { DRAIN_SECONDS: '1' })
  const id = await begin(nodes.at(1), 'held-5')
  await standing(nodes.at(0), id, /in_progress/)
  expect(await nodes.at(1).stop('SIGTERM')).toBe(0)
  expect(await found(nodes.at(0), id)).toMatchObject({
    status: 'failed',
    error: { code: 'server_error', details: { code: 'gateway_unavailable' } },
  })
  await nodes.restart(1)
  expect(await bookedFor(id)).toBe(1)
})

test('an answer whose node was killed has failed, and is booked once', async () => {
  const id = await begin(nodes.at(1), 'held-5')
  await standing(nodes.at(0), id, /in_progress/)
  await nodes.at(1).stop('SIGKILL')
  const failed = await standing(nodes.at(0), id, /failed/)
  expect(failed).toMatchObject({ id, error: { code: 'server_error' } })
  await nodes.restart(1)
  expect(await bookedFor(id)).toBe(1)
  expect(await found(nodes.at(1), id)).toEqual(failed)
})
