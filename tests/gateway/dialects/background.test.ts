import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { OpenAI } from 'openai'
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses'
import { failureOf, createFixture, type Fixture } from '../../providers/conformance/fixture'
import { openDatabase } from '../../harness/database'
import { sendRequest } from '../../harness/http'
import { eventually, eventuallyReads } from '../../../server/testing/eventually'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const greeting = 'All is well at the fake provider today, thank you.'
const path = '/v1/responses'
const begin = async (name: string, fields: object = {}): Promise<Response> =>
  fixture.client.responses.create({
    model: await fixture.model(name),
    input: 'One.',
    background: true,
    stream: false,
    ...fields,
  })
const another = async (): Promise<OpenAI> => (await fixture.rig.gateway.customer()).client

async function standing(id: string, wanted: RegExp): Promise<Response> {
  let found = await fixture.client.responses.retrieve(id)
  await eventually(async () => {
    found = await fixture.client.responses.retrieve(id)
    return wanted.test(String(found.status))
  })
  return found
}
const ended = (id: string) => standing(id, /^(?!queued|in_progress)/)

/** What was written down of the request for an answer, once it has ended. */
async function bookedFor(id: string) {
  const sql = await openDatabase(fixture.rig.gateway.dataDir)
  const requestId = id.replace('resp_', 'req_')
  try {
    const logs = await eventuallyReads(
      async () => sql`select status from request_log where id = ${requestId}`,
      ({ length }) => length > 0,
    )
    const events = await sql`select outcome from usage_event where request_id = ${requestId}`
    return { logs: [...logs], events: [...events] }
  } finally {
    await sql.close()
  }
}

const open = async (name: string) =>
  fixture.client.responses.create({
    model: await fixture.model(name),
    input: 'One.',
    background: true,
    stream: true,
  })
const collect = async (stream: AsyncIterable<ResponseStreamEvent>) => {
  const events: ResponseStreamEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}
const idIn = (event: ResponseStreamEvent | undefined) =>
  event && 'response' in event ? event.response.id : ''

describe('an answer in the background', () => {
  test('is queued at once, and made without a client that waits', async () => {
    const begun = await begin('held-first')
    expect(begun).toMatchObject({ status: 'queued', background: true, store: true, output: [] })
    expect((await fixture.client.responses.retrieve(begun.id)).status).toMatch(/queued|in_progress/)
    await fixture.rig.upstream.releaseHeld()
    const found = await ended(begun.id)
    expect(found).toMatchObject({ id: begun.id, status: 'completed', background: true })
    expect(found.output_text).toBe(greeting)
    expect(found.usage?.output_tokens).toBeGreaterThan(0)
    expect(await bookedFor(begun.id)).toMatchObject({
      logs: [{ status: 'success' }],
      events: [{ outcome: 'ok' }],
    })
  })

  test('is gone on from once it has ended, not before', async () => {
    const { id } = await begin('held-first')
    const early = await failureOf(begin('ok', { previous_response_id: id }))
    expect([early.status, early.param]).toEqual([400, 'previous_response_id'])
    await fixture.rig.upstream.releaseHeld()
    await ended(id)
    const second = await ended((await begin('ok', { previous_response_id: id, input: 'Two.' })).id)
    expect(second.previous_response_id).toBe(id)
    expect(fixture.sent()['messages']).toEqual([
      { role: 'user', content: 'One.' },
      { role: 'assistant', content: greeting },
      { role: 'user', content: 'Two.' },
    ])
    const { data } = await fixture.client.responses.inputItems.list(second.id)
    expect(data).toMatchObject([{ content: 'Two.' }])
  })

  test('adds to its conversation', async () => {
    const { id: conversation } = await fixture.client.conversations.create()
    const { id } = await begin('ok', { conversation })
    expect((await ended(id)).conversation).toEqual({ id: conversation })
    const { data } = await fixture.client.conversations.items.list(conversation)
    expect(data.map((item) => (item.type === 'message' ? item.role : ''))).toEqual([
      'assistant',
      'user',
    ])
  })

  test('has failed, with the reason, when its provider fails', async () => {
    const { id } = await begin('status-500')
    const found = await ended(id)
    expect(found).toMatchObject({ status: 'failed', output: [], error: { code: 'server_error' } })
  })

  test('is rejected at once if it cannot be requested', async () => {
    const { gateway } = fixture.rig
    const { key } = fixture.customer
    const model = await fixture.model('ok')
    const rows: [object, number, string | null][] = [
      [{ model: 'fake/none-at-all' }, 404, 'model'],
      [{ temperature: 'hot' }, 400, 'temperature'],
      [{ store: false }, 400, 'store'],
      [{ previous_response_id: 'resp_theirs' }, 400, 'previous_response_id'],
      [{ conversation: 'conv_theirs' }, 400, 'conversation'],
      [{ max_output_tokens: 10_000_000 }, 400, 'max_output_tokens'],
    ]
    for (const [fields, status, param] of rows) {
      const body = { model, input: 'One.', background: true, ...fields }
      const refused = await sendRequest(gateway, { path, key, body })
      expect([refused.status, refused.error.param]).toEqual([status, param])
    }
  })

  test('is made once for an Idempotency-Key', async () => {
    const { gateway } = fixture.rig
    const { key } = fixture.customer
    const body = { model: await fixture.model('ok'), input: 'Once.', background: true }
    const headers = { 'idempotency-key': 'in-the-background' }
    const before = fixture.rig.upstream.requests().length
    const first = await sendRequest(gateway, { path, key, body, headers })
    const again = await sendRequest(gateway, { path, key, body, headers })
    expect(again.body).toEqual(first.body)
    expect(again.headers.get('x-idempotent-replay')).toBe('true')
    await ended(String(first.body['id']))
    expect(fixture.rig.upstream.requests().length - before).toBe(1)
    const other = { 'idempotency-key': 'in-the-background-as-a-stream' }
    const asStream = { ...body, stream: true }
    const stream = await sendRequest(gateway, { path, key, headers: other, body: asStream })
    expect([stream.status, stream.error.param]).toEqual([400, 'stream'])
  })

  test('is 404 for another account', async () => {
    const { id } = await begin('held-first', { stream: false })
    const { responses } = await another()
    const refused = [
      responses.retrieve(id),
      responses.cancel(id),
      responses.delete(id),
      responses.retrieve(id, { stream: true }),
    ]
    for (const refusal of await Promise.all(refused.map((one) => failureOf(one)))) {
      expect([refusal.status, refusal.code]).toEqual([404, 'resource_not_found'])
    }
    await fixture.rig.upstream.releaseHeld()
    expect((await ended(id)).status).toBe('completed')
  })
})

describe('cancelled', () => {
  test('it ends at once, so does its request to the provider, and its cost is booked once', async () => {
    const { id } = await begin('held-5')
    await standing(id, /in_progress/)
    const cancelled = await fixture.client.responses.cancel(id)
    expect(cancelled).toMatchObject({ id, status: 'cancelled' })
    expect(await fixture.client.responses.cancel(id)).toEqual(cancelled)
    expect((await fixture.client.responses.retrieve(id)).status).toBe('cancelled')
    expect(await bookedFor(id)).toMatchObject({
      logs: [{ status: 'cancelled' }],
      events: [{ outcome: 'cancelled' }],
    })
    expect((await fixture.client.responses.retrieve(id)).status).toBe('cancelled')
  })

  test('an ended one stays as it is', async () => {
    const { id } = await begin('ok')
    const found = await ended(id)
    expect((await fixture.client.responses.cancel(id)).status).toBe('completed')
    expect((await fixture.client.responses.retrieve(id)).output).toEqual(found.output)
  })

  test('an answer outside the background, and an unknown one, is rejected', async () => {
    const model = await fixture.model('ok')
    const { id } = await fixture.client.responses.create({ model, input: 'One.', store: true })
    const refusal = await failureOf(fixture.client.responses.cancel(id))
    expect([refusal.status, refusal.param]).toEqual([400, 'response_id'])
    expect((await failureOf(fixture.client.responses.cancel('resp_none'))).status).toBe(404)
  })

  test('finding S31: by the suspension of its account, as by its deletion', async () => {
    const { gateway } = fixture.rig
    const { client, userId } = await gateway.customer()
    const model = await fixture.model('held-5')
    const { id } = await client.responses.create({ model, input: 'One.', background: true })
    await eventually(async () => (await client.responses.retrieve(id)).status === 'in_progress')
    await gateway.admin('POST', `/users/${userId}/suspend`, { reason: 'A test.' })
    await using sql = await openDatabase(gateway.dataDir)
    const stateOf = async () => {
      const [row] = await sql`select response from stored_response where id = ${id}`
      return JSON.parse(row.response).status
    }
    await eventually(async () => (await stateOf()) === 'cancelled')
    const { events } = await bookedFor(id)
    expect(events).toMatchObject([{ outcome: 'cancelled' }])
  })

  test('by its deletion', async () => {
    const { id } = await begin('held-5')
    await standing(id, /in_progress/)
    await fixture.client.responses.delete(id)
    expect((await failureOf(fixture.client.responses.retrieve(id))).status).toBe(404)
    // Its end, by which nothing comes back.
    expect(await bookedFor(id)).toMatchObject({ events: [{ outcome: 'cancelled' }] })
    expect((await failureOf(fixture.client.responses.retrieve(id))).status).toBe(404)
  })
})

describe('as a stream', () => {
  test('it is read like any other, and again from any event on', async () => {
    const events = await collect(await open('chunks-20-gap-20'))
    expect(events.map(({ sequence_number: number }) => number)).toEqual([...events.keys()])
    expect(events.at(-1)).toMatchObject({
      type: 'response.completed',
      response: { status: 'completed', background: true, store: true },
    })
    const id = idIn(events[0])
    expect(new Set(events.map(idIn).filter(Boolean))).toEqual(new Set([id]))
    for (const after of [undefined, 0, 7, events.length - 2, events.length - 1]) {
      const query = { stream: true as const, ...(after !== undefined && { starting_after: after }) }
      const rest = await collect(await fixture.client.responses.retrieve(id, query))
      expect(rest).toEqual(events.slice((after ?? -1) + 1))
    }
  })

  test('it continues without its reader, which can resume', async () => {
    const stream = await open('held-10')
    const seen: ResponseStreamEvent[] = []
    for await (const event of stream) {
      seen.push(event)
      if (seen.length === 6) break
    }
    const id = idIn(seen[0])
    const resumed = await fixture.client.responses.retrieve(id, { stream: true, starting_after: 5 })
    await fixture.rig.upstream.releaseHeld()
    const rest = await collect(resumed)
    expect(rest[0]?.sequence_number).toBe(6)
    expect(rest.at(-1)?.type).toBe('response.completed')
    const found = await fixture.client.responses.retrieve(id)
    expect(found.status).toBe('completed')
    const text = [...seen, ...rest].flatMap((event) =>
      event.type === 'response.output_text.delta' ? [event.delta] : [],
    )
    expect(text.join('')).toBe(found.output_text)
  })

  test('it ends when it is cancelled', async () => {
    const stream = await open('held-5')
    const seen: ResponseStreamEvent[] = []
    for await (const event of stream) {
      if (seen.push(event) === 3) await fixture.client.responses.cancel(idIn(seen[0]))
    }
    expect(seen.some(({ type }) => type === 'response.completed')).toBeFalse()
  })

  test('it reports its failure', async () => {
    const events = await collect(await open('status-500'))
    expect(events.at(-1)?.type).toBe('response.failed')
    expect((await fixture.client.responses.retrieve(idIn(events[0]))).status).toBe('failed')
  })

  test('only an answer requested as a stream', async () => {
    const { id } = await begin('ok')
    await ended(id)
    const refusal = await failureOf(fixture.client.responses.retrieve(id, { stream: true }))
    expect([refusal.status, refusal.param]).toEqual([400, 'stream'])
    const { gateway } = fixture.rig
    const { key } = fixture.customer
    for (const after of ['x', '-2', '1.5']) {
      const query = `${path}/${id}?stream=true&starting_after=${after}`
      const refused = await sendRequest(gateway, { method: 'GET', path: query, key })
      expect([refused.status, refused.error.param]).toEqual([400, 'starting_after'])
    }
  })
})
