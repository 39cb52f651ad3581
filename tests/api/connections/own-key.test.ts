import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { call, idIn, createFixture, problem, type Fixture } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import { sendRequest, messages } from '../../harness/http'
import type { Customer } from '../../harness/server'
import { eventsOf } from '../../providers/translated/front'
import { isDeep } from '../../../server/testing/depth'
import { eventually } from '../../../server/testing/eventually'

/** A customer with nothing but a key of Anthropic's, which the operator has not. */

const secret = 'sk-ant-canary-2b71c09fe4a85d36'
const model = 'anthropic/claude-sonnet-4-5'

let fixture: Fixture
let customer: Customer
let path: string

const start = {
  type: 'message_start',
  message: { model: 'claude', usage: { input_tokens: 11, output_tokens: 1 } },
}
const stop = (reason: string) => [
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
]

const says = (...texts: string[]) =>
  eventsOf(
    start,
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...texts.map((text) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text },
    })),
    ...stop('end_turn'),
  )

beforeAll(async () => {
  fixture = await createFixture()
  fixture.gateway.recorder.canary(secret)
  customer = await fixture.newCustomer()
  const denied = await sendRequest(fixture.gateway, {
    key: customer.key,
    body: { model, messages },
  })
  expect([denied.status, denied.error.code]).toEqual([403, 'model_access_denied'])
  const made = await call(fixture.gateway, customer, 'POST /connections', {
    name: 'Mine',
    provider: 'anthropic',
    api_key: secret,
    endpoint_url: fixture.upstream.url,
  })
  path = `/connections/${idIn(made)}`
  expect(made.body).toMatchObject({
    name: 'Mine',
    provider: 'anthropic',
    endpoint_url: fixture.upstream.url,
    gateway_type: 2,
    gateway_id: null,
    status: 'active',
    scope: 'individual',
    organization_id: null,
    billing_mode: null,
    is_default: true,
    priority: 100,
    rate_limits: {
      rpm: null,
      tpm: null,
      images_per_minute: null,
      audio_seconds_per_minute: null,
    },
    model_count: 0,
    api_key_prefix: secret.slice(0, 7),
    last_error: null,
    last_tested_at: null,
  })
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.reset())

test('chats through the official client, at once after the connection was made', async () => {
  fixture.upstream.answer = () => says('Hello', ' there.')
  const { choices, usage } = await customer.client.chat.completions.create({
    model,
    messages: [{ role: 'user', content: 'Hello?' }],
  })
  expect(choices[0]?.message.content).toBe('Hello there.')
  expect(usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 7 })
  const [seen] = fixture.upstream.requests
  expect(seen?.path).toBe('/v1/messages')
  expect(seen?.headers.get('x-api-key')).toBe(secret)
})

test('calls tools', async () => {
  fixture.upstream.answer = () =>
    eventsOf(
      start,
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: '{"city":"Oslo"}' },
      },
      ...stop('tool_use'),
    )
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }
  const { choices } = await customer.client.chat.completions.create({
    model,
    messages: [{ role: 'user', content: 'Weather in Oslo?' }],
    tools: [{ type: 'function', function: { name: 'weather', parameters } }],
  })
  expect(choices[0]).toMatchObject({
    finish_reason: 'tool_calls',
    message: {
      tool_calls: [{ id: 'toolu_1', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
    },
  })
})

test('streams', async () => {
  fixture.upstream.answer = () => says('One', ' two', ' three')
  const stream = await customer.client.chat.completions.create({
    model,
    messages: [{ role: 'user', content: 'Count.' }],
    stream: true,
  })
  let text = ''
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
  expect(text).toBe('One two three')
})

test('21.3: nothing is charged, and the event has the reason', async () => {
  fixture.upstream.answer = () => says('Hi')
  await using sql = await openDatabase(fixture.gateway.dataDir)
  const { status, headers } = await sendRequest(fixture.gateway, {
    key: customer.key,
    body: { model, messages },
  })
  expect([status, headers.get('x-tollgate-cost')]).toEqual([200, '0'])
  const requestId = headers.get('x-request-id') ?? ''
  const booked = async () => {
    const rows = await sql`
      select billing_mode, cost, input_tokens, output_tokens from usage_event
      where request_id = ${requestId}`
    return rows[0]
  }
  await eventually(booked)
  expect(await booked()).toMatchObject({ billing_mode: 'byok', cost: '0', input_tokens: '11' })
})

test('K10, K02: the secret is in no answer, no list, no log, and not in the database', async () => {
  const answers = [
    await call(fixture.gateway, customer, `GET ${path}`),
    await call(fixture.gateway, customer, 'GET /connections'),
    await call(fixture.gateway, customer, `PUT ${path}`, { priority: 7 }),
  ]
  for (const { status, text } of answers) {
    expect(status).toBe(200)
    expect(text).not.toContain('canary')
  }
  expect(fixture.gateway.output()).not.toContain('canary')
  await using sql = await openDatabase(fixture.gateway.dataDir)
  const rows = await sql`select connection::text as text from connection`
  const hexed = Buffer.from('canary').toString('hex')
  expect(
    rows.some(({ text }: { text: string }) => /canary/.test(text) || text.includes(hexed)),
  ).toBe(false)
})

test('K08, K10: a key that the provider echoes is removed too, in a call or in a test', async () => {
  fixture.upstream.answer = () =>
    Response.json({ error: { message: `bad key ${secret} for you` } }, { status: 401 })
  const { status, error, text } = await sendRequest(fixture.gateway, {
    key: customer.key,
    body: { model, messages },
  })
  expect([status, error.code]).toEqual([502, 'provider_error'])
  expect(text).not.toContain('canary')
  const tested = await call(fixture.gateway, customer, `POST ${path}/test`)
  expect(tested.body).toMatchObject({ success: false, status: 'error' })
  expect(tested.text).not.toContain('canary')
  expect((await call(fixture.gateway, customer, `GET ${path}`)).text).not.toContain('canary')
  expect(fixture.gateway.output()).not.toContain('canary')
})

if (isDeep)
  test('21.2: a connection shows that its key was rejected, until it works again', async () => {
    const { gateway, upstream } = fixture
    const fields = { name: 'Spare', provider: 'anthropic', api_key: 'sk-ant-spare', priority: 900 }
    const spare = await call(gateway, customer, 'POST /connections', {
      ...fields,
      endpoint_url: `${upstream.url}/spare`,
    })
    const chat = () => sendRequest(gateway, { key: customer.key, body: { model, messages } })
    const paths = () => upstream.requests.splice(0).map((seen) => seen.path)
    const statusOf = async () => (await call(gateway, customer, `GET ${path}`)).body['status']
    // The failed test of before: it comes after the other.
    expect(await statusOf()).toBe('error')
    upstream.answer = () => says('Hi')
    expect((await chat()).status).toBe(200)
    expect(paths()).toEqual(['/spare/v1/messages'])
    await call(gateway, customer, `DELETE /connections/${idIn(spare)}`)
    expect((await chat()).status).toBe(200)
    expect(paths()).toEqual(['/v1/messages'])
    // What was written a moment ago is not written anew at once.
    await eventually(async () => {
      await chat()
      return (await statusOf()) === 'active'
    })
    upstream.answer = () => Response.json({ data: [{ id: 'claude-sonnet-4-5' }] })
    const tested = await call(gateway, customer, `POST ${path}/test`)
    expect(tested.body).toMatchObject({ success: true, status: 'active', models_found: 1 })
    const { body } = await call(gateway, customer, `GET ${path}`)
    expect(body).toMatchObject({ status: 'active', model_count: 1, last_error: null })
  })

test('X14: another address discards the secret, and nothing goes there until there is a new one', async () => {
  const moved = await call(fixture.gateway, customer, `PUT ${path}`, {
    endpoint_url: `${fixture.upstream.url}/elsewhere`,
  })
  expect(moved.body).toMatchObject({ status: 'inactive', api_key_prefix: null, model_count: 0 })
  const body = { model, messages }
  const denied = await sendRequest(fixture.gateway, { key: customer.key, body })
  expect([denied.status, denied.error.code]).toEqual([403, 'model_access_denied'])
  const started = await call(fixture.gateway, customer, `PUT ${path}`, { status: 'active' })
  expect(problem(started)).toEqual([400, 'status', 'wrong_state'])
  expect(fixture.upstream.requests).toEqual([])
  const another = 'sk-ant-another-88d1'
  const updated = await call(fixture.gateway, customer, `POST ${path}/update-key`, {
    api_key: another,
  })
  expect(updated.body).toMatchObject({ success: true })
  fixture.upstream.answer = () => says('Hi')
  expect((await sendRequest(fixture.gateway, { key: customer.key, body })).status).toBe(200)
  expect(
    fixture.upstream.requests.map(({ path: to, headers }) => [to, headers.get('x-api-key')]),
  ).toEqual([['/elsewhere/v1/messages', another]])
})
