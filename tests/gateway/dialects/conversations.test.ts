import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { OpenAI } from 'openai'
import { failureOf, createFixture, type Fixture } from '../../providers/conformance/fixture'
import { sendRequest } from '../../harness/http'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const greeting = 'All is well at the fake provider today, thank you.'
const another = async (): Promise<OpenAI> => (await fixture.rig.gateway.customer()).client
const user = (content: string) => ({ type: 'message' as const, role: 'user' as const, content })
const say = async (conversation: string, input: string, fields: object = {}) =>
  fixture.client.responses.create({
    model: await fixture.model('ok'),
    input,
    conversation,
    stream: false,
    ...fields,
  })

describe('a conversation', () => {
  test('is made, changed, found and deleted', async () => {
    const { conversations } = fixture.client
    const askedAt = Math.floor(Date.now() / 1000)
    const made = await conversations.create({ metadata: { topic: 'a' } })
    expect(made).toMatchObject({ object: 'conversation', metadata: { topic: 'a' } })
    expect(made.id).toStartWith('conv_')
    expect(made.created_at).toBeWithin(askedAt, Date.now() / 1000 + 1)
    await conversations.update(made.id, { metadata: { topic: 'b' } })
    expect(await conversations.retrieve(made.id)).toEqual({ ...made, metadata: { topic: 'b' } })
    expect(await conversations.delete(made.id)).toEqual({
      id: made.id,
      object: 'conversation.deleted',
      deleted: true,
    })
    expect((await failureOf(conversations.retrieve(made.id))).status).toBe(404)
    expect((await failureOf(conversations.delete(made.id))).status).toBe(404)
  })

  test('is made of nothing', async () => {
    const { key } = fixture.customer
    const answer = await sendRequest(fixture.rig.gateway, { path: '/v1/conversations', key })
    expect([answer.status, answer.body['metadata']]).toEqual([200, {}])
    expect(await fixture.client.conversations.create()).toMatchObject({ metadata: {} })
  })

  test('has its items listed, added and deleted one by one', async () => {
    const { conversations } = fixture.client
    const { id } = await conversations.create({ items: [user('a'), user('b')] })
    const added = await conversations.items.create(id, { items: [user('c')] })
    expect(added.data).toMatchObject([
      {
        type: 'message',
        role: 'user',
        status: 'completed',
        content: [{ type: 'input_text', text: 'c' }],
      },
    ])
    const latest = await conversations.items.list(id, { limit: 2 })
    expect(latest.data.map((item) => item.id)[0]).toBe(added.first_id)
    expect(latest.has_more).toBeTrue()
    const all = []
    for await (const item of conversations.items.list(id, { order: 'asc', limit: 1 }))
      all.push(item)
    expect(all).toMatchObject(['a', 'b', 'c'].map((text) => ({ content: [{ text }] })))
    const item_id = String(all[1]?.id)
    const found = await conversations.items.retrieve(item_id, { conversation_id: id })
    expect(found).toEqual(all[1] ?? Object.create(null))
    const left = await conversations.items.delete(item_id, { conversation_id: id })
    expect(left).toMatchObject({ id, object: 'conversation' })
    const gone = conversations.items.retrieve(item_id, { conversation_id: id })
    expect((await failureOf(gone)).param).toBe('item_id')
  })

  test('is 404 for another account', async () => {
    const { id } = await fixture.client.conversations.create({ items: [user('A secret.')] })
    const { data } = await fixture.client.conversations.items.list(id)
    const [item] = data
    const { conversations, responses } = await another()
    const at = { conversation_id: id }
    const refused = [
      conversations.retrieve(id),
      conversations.update(id, { metadata: {} }),
      conversations.delete(id),
      conversations.items.list(id),
      conversations.items.create(id, { items: [user('Mine.')] }),
      conversations.items.retrieve(String(item?.id), at),
      conversations.items.delete(String(item?.id), at),
    ]
    for (const refusal of await Promise.all(refused.map((one) => failureOf(one)))) {
      expect([refusal.status, refusal.code]).toEqual([404, 'resource_not_found'])
    }
    const model = await fixture.model('ok')
    const refusal = await failureOf(responses.create({ model, input: 'Well?', conversation: id }))
    expect([refusal.status, refusal.param]).toEqual([400, 'conversation'])
    expect((await fixture.client.conversations.items.list(id)).data).toEqual(data)
  })
})

describe('a request with a conversation', () => {
  test('continues from the whole history, and adds its own messages', async () => {
    const { id } = await fixture.client.conversations.create({
      items: [{ type: 'message', role: 'developer', content: 'Be brief.' }],
    })
    const first = await say(id, 'One.')
    expect(first.conversation).toEqual({ id })
    expect(first).toMatchObject({ store: true })
    const second = await say(id, 'Two.', { conversation: { id }, instructions: 'Now.' })
    expect(second.conversation).toEqual({ id })
    expect(fixture.sent()['messages']).toEqual([
      { role: 'system', content: 'Now.' },
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: 'One.' },
      { role: 'assistant', content: greeting },
      { role: 'user', content: 'Two.' },
    ])
    const { data } = await fixture.client.conversations.items.list(id, { order: 'asc' })
    expect(data.map((item) => (item.type === 'message' ? item.role : item.type))).toEqual([
      'developer',
      'user',
      'assistant',
      'user',
      'assistant',
    ])
    expect(data[2]?.id).toBe(first.output[0]?.id)
  })

  test('as a stream has added its answer by the time that its end is read', async () => {
    const { id } = await fixture.client.conversations.create()
    const model = await fixture.model('ok')
    for (const input of ['One.', 'Two.', 'Three.']) {
      const stream = fixture.client.responses.stream({ model, input, conversation: id })
      const response = await stream.finalResponse()
      expect(response.conversation).toEqual({ id })
    }
    expect(fixture.sent()['messages']).toHaveLength(5)
    expect((await fixture.client.conversations.items.list(id)).data).toHaveLength(6)
  })

  test('answers calls by their ids alone', async () => {
    const { id } = await fixture.client.conversations.create()
    const tools = [{ type: 'function' as const, name: 'look', parameters: {}, strict: false }]
    const first = await say(id, 'Look.', { tools, tool_choice: 'required' })
    const [call] = first.output
    if (call?.type !== 'function_call') throw new Error('no call')
    const output = { type: 'function_call_output', call_id: call.call_id, output: 'wet' }
    await say(id, '', { input: [output], tools })
    expect(fixture.sent()['messages']).toMatchObject([
      { role: 'user', content: 'Look.' },
      { tool_calls: [{ id: call.call_id }] },
      { role: 'tool', tool_call_id: call.call_id, content: 'wet' },
    ])
  })

  test('with store true has its answer kept besides', async () => {
    const { id } = await fixture.client.conversations.create()
    const response = await say(id, 'One.', { store: true })
    const found = await fixture.client.responses.retrieve(response.id)
    expect(found).toMatchObject({ id: response.id, store: true, conversation: { id } })
  })

  test('needs no input of its own', async () => {
    const { id } = await fixture.client.conversations.create({ items: [user('Well?')] })
    await say(id, '', { input: undefined })
    expect(fixture.sent()['messages']).toEqual([{ role: 'user', content: 'Well?' }])
  })

  test('adds nothing where it fails', async () => {
    const { id } = await fixture.client.conversations.create()
    const model = await fixture.model('status-500')
    const refusal = await failureOf(
      fixture.client.responses.create({ model, input: 'One.', conversation: id }),
    )
    expect(refusal.status).toBeGreaterThanOrEqual(500)
    expect((await fixture.client.conversations.items.list(id)).data).toEqual([])
  })

  test('a response before it is rejected', async () => {
    const { id } = await fixture.client.conversations.create()
    const first = await say(id, 'One.', { store: true })
    const refusal = await failureOf(say(id, 'Two.', { previous_response_id: first.id }))
    expect([refusal.status, refusal.param]).toEqual([400, 'previous_response_id'])
  })
})

describe('rejected', () => {
  test.each([
    [{ items: [{ type: 'item_reference', id: 'msg_1' }] }, 'items.0.type'],
    [{ items: [{ type: 'message', role: 'user' }] }, 'items.0.content'],
    [{ items: [{ content: 'a' }] }, 'items.0.role'],
    [{ items: Array.from({ length: 21 }, () => user('a')) }, 'items'],
    [{ metadata: { a: 1 } }, 'metadata.a'],
  ])('%j', async (body, param) => {
    const { key } = fixture.customer
    const answer = await sendRequest(fixture.rig.gateway, { path: '/v1/conversations', key, body })
    expect([answer.status, answer.error.param]).toEqual([400, param])
  })

  test.each(['a\0b', 'é', '%', 'x'.repeat(300), "' or true --"])('%j is invalid', async (id) => {
    const { key } = fixture.customer
    const path = `/v1/conversations/${encodeURIComponent(id)}`
    for (const method of ['GET', 'DELETE', 'POST']) {
      const sent = method === 'POST' && { body: { metadata: {} } }
      const answer = await sendRequest(fixture.rig.gateway, { method, path, key, ...sent })
      expect([answer.status, answer.error.code]).toEqual([404, 'resource_not_found'])
    }
  })
})
