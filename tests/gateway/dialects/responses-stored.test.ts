import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { OpenAI } from 'openai'
import { failureOf, createFixture, type Fixture } from '../../providers/conformance/fixture'
import { openDatabase } from '../../harness/database'
import { sendRequest } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const greeting = 'All is well at the fake provider today, thank you.'
const say = async (input: string, fields: object = {}) =>
  fixture.client.responses.create({
    model: await fixture.model('ok'),
    input,
    store: true,
    stream: false,
    ...fields,
  })

const another = async (): Promise<OpenAI> => (await fixture.rig.gateway.customer()).client

describe('an answer that is to be kept', () => {
  test('exists for its account, and for no other', async () => {
    const response = await say('One.')
    expect(response).toMatchObject({ store: true })
    const { output_text: _convenience, ...found } = await fixture.client.responses.retrieve(
      response.id,
    )
    expect(response).toMatchObject(found)
    const other = await another()
    const refused = [other.responses.retrieve(response.id), other.responses.delete(response.id)]
    for (const refusal of await Promise.all(refused.map(failureOf))) {
      expect([refusal.status, refusal.code]).toEqual([404, 'resource_not_found'])
    }
    expect((await fixture.client.responses.retrieve(response.id)).id).toBe(response.id)
  })

  test('is gone on from, with all that came before', async () => {
    const first = await say('One.')
    const second = await say('Two.', { previous_response_id: first.id })
    expect(second.previous_response_id).toBe(first.id)
    await say('Three.', { previous_response_id: second.id, instructions: 'Be brief.' })
    expect(fixture.sent()['messages']).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'One.' },
      { role: 'assistant', content: greeting },
      { role: 'user', content: 'Two.' },
      { role: 'assistant', content: greeting },
      { role: 'user', content: 'Three.' },
    ])
  })

  test('is not gone on from by another account', async () => {
    const { id } = await say('A secret.')
    const other = await another()
    const model = await fixture.model('ok')
    const refusal = await failureOf(
      other.responses.create({ model, input: 'Well?', previous_response_id: id }),
    )
    expect([refusal.status, refusal.param]).toEqual([400, 'previous_response_id'])
  })

  test('has its calls answered by id alone', async () => {
    const tools = [{ type: 'function' as const, name: 'look', parameters: {}, strict: false }]
    const first = await say('Look.', { tools, tool_choice: 'required' })
    const [call] = first.output
    if (call?.type !== 'function_call') throw new Error('no call')
    const output = { type: 'function_call_output', call_id: call.call_id, output: 'wet' }
    await say('', { input: [output], tools, previous_response_id: first.id })
    expect(fixture.sent()['messages']).toMatchObject([
      { role: 'user', content: 'Look.' },
      { tool_calls: [{ id: call.call_id }] },
      { role: 'tool', tool_call_id: call.call_id, content: 'wet' },
    ])
  })

  test('as a stream is kept as it ended', async () => {
    const model = await fixture.model('ok')
    const stream = fixture.client.responses.stream({ model, input: 'Hello.', store: true })
    const response = await stream.finalResponse()
    expect(response).toMatchObject({ store: true })
    const found = await fixture.client.responses.retrieve(response.id)
    expect(found.output_text).toBe(response.output_text)
    expect(found.status).toBe('completed')
    await say('And?', { previous_response_id: response.id })
    expect(fixture.sent()['messages']).toHaveLength(3)
  })

  test('is deleted, and cannot be continued', async () => {
    const { id } = await say('One.')
    await fixture.client.responses.delete(id)
    expect((await failureOf(fixture.client.responses.retrieve(id))).status).toBe(404)
    const refusal = await failureOf(say('Two.', { previous_response_id: id }))
    expect(refusal.param).toBe('previous_response_id')
  })

  test('returns the items of its request', async () => {
    const first = await say('One.')
    const input = ['a', 'b', 'c'].map((content) => ({ role: 'user' as const, content }))
    const { id } = await say('', { input, previous_response_id: first.id })
    const page = await fixture.client.responses.inputItems.list(id, { order: 'asc', limit: 2 })
    expect(page.data).toMatchObject([{ content: 'a' }, { content: 'b' }])
    expect(page.has_more).toBeTrue()
    const rest: unknown[] = []
    for await (const item of page) rest.push(item)
    expect(rest).toHaveLength(3)
  })
})

test.each(['a\0b', 'é', '%', 'x'.repeat(300), "' or true --"])(
  '%j is not an answer',
  async (id) => {
    const { gateway } = fixture.rig
    const { key } = fixture.customer
    const path = `/v1/responses/${encodeURIComponent(id)}`
    const found = await sendRequest(gateway, { method: 'GET', path, key })
    expect([found.status, found.error.code]).toEqual([404, 'resource_not_found'])
    expect((await sendRequest(gateway, { method: 'DELETE', path, key })).status).toBe(404)
    const body = { model: await fixture.model('ok'), input: 'Well?', previous_response_id: id }
    const refused = await sendRequest(gateway, { path: '/v1/responses', key, body })
    expect([refused.status, refused.error.param]).toEqual([400, 'previous_response_id'])
  },
)

describe('finding D2: a response is stored unless its request says store: false', () => {
  const unsaid = { store: undefined }

  test('whole', async () => {
    const response = await say('Hello.', unsaid)
    expect(response).toMatchObject({ store: true })
    expect((await fixture.client.responses.retrieve(response.id)).id).toBe(response.id)
  })

  test('streamed', async () => {
    const model = await fixture.model('ok')
    const stream = fixture.client.responses.stream({ model, input: 'Hello.' })
    const response = await stream.finalResponse()
    expect(response).toMatchObject({ store: true })
    await say('And?', { ...unsaid, previous_response_id: response.id })
    expect(fixture.sent()['messages']).toHaveLength(3)
  })

  test('a tool loop that names the response before is answered', async () => {
    const tools = [{ type: 'function' as const, name: 'look', parameters: {}, strict: false }]
    const first = await say('Look.', { ...unsaid, tools, tool_choice: 'required' })
    const [call] = first.output
    if (call?.type !== 'function_call') throw new Error('no call')
    const output = { type: 'function_call_output', call_id: call.call_id, output: 'wet' }
    const fields = { ...unsaid, input: [output], tools, previous_response_id: first.id }
    const second = await say('', fields)
    expect(second).toMatchObject({ store: true, previous_response_id: first.id })
  })

  test('store: false is honoured, whole and streamed', async () => {
    const model = await fixture.model('ok')
    const stream = fixture.client.responses.stream({ model, input: 'Hello.', store: false })
    for (const response of [await say('Hello.', { store: false }), await stream.finalResponse()]) {
      expect(response).toMatchObject({ store: false })
      expect((await failureOf(fixture.client.responses.retrieve(response.id))).status).toBe(404)
      const refusal = await failureOf(say('And?', { previous_response_id: response.id }))
      expect([refusal.status, refusal.param]).toEqual([400, 'previous_response_id'])
    }
  })
})

test('a stored answer is in the database as soon as it is written, under its account', async () => {
  const { id } = await say('Hello.')
  const sql = await openDatabase(fixture.rig.gateway.dataDir)
  try {
    let rows: { user_id: string; input: string }[] = []
    await eventually(async () => {
      rows = await sql`select user_id, input from stored_response where id = ${id}`
      return rows.length > 0
    })
    const input = JSON.stringify([{ type: 'message', role: 'user', content: 'Hello.' }])
    expect(rows).toEqual([{ user_id: fixture.customer.userId, input }])
  } finally {
    await sql.close()
  }
})

test('an answer that the database does not have yet cannot be cancelled or streamed, with the reason', async () => {
  const model = await fixture.model('ok')
  const { responses } = fixture.client
  await using sql = await openDatabase(fixture.rig.gateway.dataDir)
  await sql.begin(async (transaction) => {
    await transaction`lock table stored_response in exclusive mode`
    const { id } = await responses.create({ model, input: 'One.', store: true })
    const stream = { path: `/v1/responses/${id}?stream=true`, key: fixture.customer.key }
    const streamed = await sendRequest(fixture.rig.gateway, { ...stream, method: 'GET' })
    expect([streamed.status, streamed.error.param]).toEqual([400, 'stream'])
    const refusal = await failureOf(responses.cancel(id))
    expect([refusal.status, refusal.param]).toEqual([400, 'response_id'])
  })
})
