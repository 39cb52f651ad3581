import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { OpenAI } from 'openai'
import {
  failureOf,
  createFixture,
  type Fixture,
  type Json,
} from '../../providers/conformance/fixture'
import { sendRequest } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const greeting = 'All is well at the fake provider today, thank you.'
const user = (content: string) => ({ role: 'user' as const, content })
const referenceTo = (id: unknown) => ({ type: 'item_reference' as const, id: String(id) })

const create = async (fields: object, client: OpenAI = fixture.client) =>
  client.responses.create({
    model: await fixture.model('ok'),
    input: 'One.',
    stream: false,
    ...fields,
  })

/** The second turn as the AI SDK's default provider writes it. */
const conversation = [user('One.'), { role: 'assistant', content: greeting }, user('Two.')]
const secondTurn = (id: unknown) => ({ input: [user('One.'), referenceTo(id), user('Two.')] })

describe('finding D1: an item that the account was given is found by its id', () => {
  test('in a whole response', async () => {
    const first = await create({})
    await create(secondTurn(first.output[0]?.id))
    expect(fixture.sent()['messages']).toEqual(conversation)
  })

  test('in a streamed response', async () => {
    const model = await fixture.model('ok')
    const stream = fixture.client.responses.stream({ model, input: 'One.' })
    const first = await stream.finalResponse()
    await create(secondTurn(first.output[0]?.id))
    expect(fixture.sent()['messages']).toEqual(conversation)
  })

  test('without its type', async () => {
    const first = await create({})
    const input = [user('One.'), { id: String(first.output[0]?.id) }, user('Two.')]
    await create({ input })
    expect(fixture.sent()['messages']).toEqual(conversation)
  })

  test('a call, and its result', async () => {
    const tools = [{ type: 'function' as const, name: 'look', parameters: {}, strict: false }]
    const first = await create({ tools, tool_choice: 'required' })
    const [call] = first.output
    if (call?.type !== 'function_call') throw new Error('no call')
    const output = { type: 'function_call_output', call_id: call.call_id, output: 'wet' }
    await create({ input: [user('One.'), referenceTo(call.id), output], tools })
    expect(fixture.sent()['messages']).toMatchObject([
      { role: 'user', content: 'One.' },
      { tool_calls: [{ id: call.call_id, function: { name: 'look' } }] },
      { role: 'tool', tool_call_id: call.call_id, content: 'wet' },
    ])
  })

  test('in several responses, and later in the response that named it', async () => {
    const first = await create({})
    const second = await create(secondTurn(first.output[0]?.id))
    const named = [referenceTo(first.output[0]?.id), referenceTo(second.output[0]?.id)]
    await create({ input: [user('One.'), named[0], user('Two.'), named[1], user('Three.')] })
    const said = { role: 'assistant', content: greeting }
    expect(fixture.sent()['messages']).toEqual([...conversation, said, user('Three.')])
    await create({ input: 'Three.', previous_response_id: second.id })
    expect(fixture.sent()['messages']).toEqual([...conversation, said, user('Three.')])
  })

  test('in a response in the background', async () => {
    const { id } = await create({ background: true })
    let itemId: unknown
    await eventually(async () => {
      const { status, output } = await fixture.client.responses.retrieve(id)
      itemId = output[0]?.id
      return status === 'completed'
    })
    await create(secondTurn(itemId))
    expect(fixture.sent()['messages']).toEqual(conversation)
  })

  test('in an input, as it is listed', async () => {
    const { id } = await create({ input: [user('One.'), user('Two.')] })
    const { data } = await fixture.client.responses.inputItems.list(id, { order: 'asc' })
    await create({
      input: [...data.map((item) => referenceTo(Reflect.get(item, 'id'))), user('!')],
    })
    expect(fixture.sent()['messages']).toEqual([user('One.'), user('Two.'), user('!')])
  })
})

const refused = async (body: Json, client?: OpenAI) => {
  const { status, param, error } = await failureOf(create(body, client))
  return [status, param, Reflect.get(Reflect.get(error ?? {}, 'details') ?? {}, 'issue')]
}

describe('finding D1: an item that is not the account’s is rejected', () => {
  test('from another account', async () => {
    const first = await create({})
    const { client } = await fixture.rig.gateway.customer()
    const asking = secondTurn(first.output[0]?.id)
    expect(await refused(asking, client)).toEqual([400, 'input.1', 'not_allowed'])
  })

  test('unknown, not stored, deleted', async () => {
    const unstored = await create({ store: false })
    const deleted = await create({})
    await fixture.client.responses.delete(deleted.id)
    for (const id of ['msg_theirs', unstored.output[0]?.id, deleted.output[0]?.id, 'x'.repeat(500)])
      expect(await refused(secondTurn(id))).toEqual([400, 'input.1', 'not_allowed'])
  })

  test('one named twice is rejected as well', async () => {
    const named = referenceTo((await create({})).output[0]?.id)
    expect(await refused({ input: [named, named] })).toEqual([400, 'input.1', 'duplicate'])
  })

  test.each(['a\0b', 'é', "' or true --"])('%j is not an item', async (id) => {
    const { key } = fixture.customer
    const body = { model: await fixture.model('ok'), ...secondTurn(id) }
    const answer = await sendRequest(fixture.rig.gateway, { path: '/v1/responses', key, body })
    expect([answer.status, answer.error.param]).toEqual([400, 'input.1'])
  })
})
