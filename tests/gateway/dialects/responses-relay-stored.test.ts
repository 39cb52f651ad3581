import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { head, hello, item, model, path, usage } from './relayed-answer'
import { eventsIn, lastResponse } from './response-events'
import { sendRequest } from '../../harness/http'
import { upstreamSecret } from '../../harness/server'
import { openFront, type Front } from '../../providers/translated/front'

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    OPENAI_API_KEY: upstreamSecret,
    OPENAI_BASE_URL: `${url}/v1`,
  }))
  await front.price(model)
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

test('a continuation of a stored answer goes to OpenAI with its history', async () => {
  front.answer = () => Response.json({ ...head, status: 'completed', output: [item], usage })
  const first = await front.post(path, { model, input: 'One.', store: true })
  expect(first.body).toMatchObject({ store: true, previous_response_id: null })
  const { id } = first.body
  front.answer = hello
  const fields = { store: true, stream: true, previous_response_id: id }
  const second = await front.post(path, { model, input: 'Two.', ...fields })
  const events = eventsIn(second.text)
  expect(lastResponse(events)).toMatchObject({ store: true, previous_response_id: id })
  expect(front.requests.at(-1)?.body).toEqual({
    model: 'gpt-6-astra',
    input: [
      { type: 'message', role: 'user', content: 'One.' },
      item,
      { type: 'message', role: 'user', content: 'Two.' },
    ],
    include: ['reasoning.encrypted_content'],
    store: false,
    stream: true,
  })
})

test('finding D2: a relayed response is stored unless its request says store: false', async () => {
  front.answer = () => Response.json({ ...head, status: 'completed', output: [item], usage })
  const first = await front.post(path, { model, input: 'One.' })
  expect(first.body).toMatchObject({ store: true })
  const previous = { previous_response_id: first.body['id'] }
  expect((await front.post(path, { model, input: 'Two.', ...previous })).status).toBe(200)
  expect(front.requests.at(-1)?.body).toMatchObject({ store: false })
  const unstored = await front.post(path, { model, input: 'One.', store: false })
  expect(front.requests.at(-1)?.body).toMatchObject({ store: false })
  const unknown = { previous_response_id: unstored.body['id'] }
  expect((await front.post(path, { model, input: 'Two.', ...unknown })).status).toBe(400)
})

test('finding D1: an item of a relayed response is found by the id that its provider made', async () => {
  const reference = { type: 'item_reference', id: item.id }
  const input = [{ role: 'user', content: 'One.' }, reference, { role: 'user', content: 'Two.' }]
  for (const stream of [false, true]) {
    front.answer = stream
      ? hello
      : () => Response.json({ ...head, status: 'completed', output: [item], usage })
    const first = await front.post(path, { model, input: 'One.', stream })
    expect(first.status).toBe(200)
    const second = await front.post(path, { model, input })
    expect(second.status).toBe(200)
    expect(front.requests.at(-1)?.body['input']).toEqual([input[0], item, input[2]])
  }
  const { key } = await front.gateway.customer()
  const theirs = await sendRequest(front.gateway, { path, key, body: { model, input } })
  expect([theirs.status, theirs.error['param']]).toEqual([400, 'input.1'])
})

test('a request in a stored conversation goes to OpenAI with its items, and adds to them', async () => {
  const made = await front.post('/v1/conversations', { items: [{ role: 'user', content: 'One.' }] })
  const conversation = String(made.body['id'])
  for (const stream of [false, true]) {
    front.answer = stream
      ? hello
      : () => Response.json({ ...head, status: 'completed', output: [item], usage })
    const second = await front.post(path, { model, input: 'Two.', conversation, stream })
    const response = stream ? lastResponse(eventsIn(second.text)) : second.body
    expect(response).toMatchObject({ status: 'completed', conversation: { id: conversation } })
  }
  expect(front.requests.at(-1)?.body).toEqual({
    model: 'gpt-6-astra',
    input: [
      { role: 'user', content: 'One.' },
      { type: 'message', role: 'user', content: 'Two.' },
      item,
      { type: 'message', role: 'user', content: 'Two.' },
    ],
    include: ['reasoning.encrypted_content'],
    store: false,
    stream: true,
  })
})
