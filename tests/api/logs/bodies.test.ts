import { afterAll, beforeAll, expect, test } from 'bun:test'
import { valueAt, createFixture, type Fixture } from './fixture'
import { messages, parsed, type Json } from '../../harness/http'
import type { Customer } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'

/** Not to be found in any log, in whatever field it was sent. */
const canaries = [
  'sk-tg-canaryCanary0123456789canaryCanary0123456789ab',
  'sk-ant-api03-canary-0123456789-abcdef',
  'AIzaSyCanary0123456789012345678901234',
  'AKIACANARY0123456789',
]
const bodyBytes = 64 * 1024

let fixture: Fixture
let willing: Customer
let unwilling: Customer

/** Waits until what was set holds: a body of a request is kept, or is not. */
const until = (isKept: boolean, as: Customer) =>
  eventually(async () => {
    const { request_body } = await fixture.detailsOf(await fixture.chat('ok', {}, as), as)
    return (request_body !== null) === isKept
  })

const allow = (log_bodies: boolean) => fixture.rig.gateway.admin('PUT', '/config', { log_bodies })

beforeAll(async () => {
  fixture = await createFixture()
  willing = await fixture.rig.gateway.customer({ permissions: ['admin'] })
  unwilling = fixture.customer
  await fixture.chat('ok', {}, willing)
  await fixture.sql`update users set log_bodies = true where id = ${willing.userId}`
  await allow(true)
  await until(true, willing)
})
afterAll(() => fixture[Symbol.asyncDispose]())

const promptOf = (content: string): Json => ({ messages: [{ role: 'user', content }] })

test('they are kept where operator and account want it, and read by that account alone', async () => {
  const answer = await fixture.chat('ok', promptOf('Say something memorable.'), willing)
  const details = await fixture.detailsOf(answer, willing)
  expect(parsed(String(details['request_body']))).toEqual({
    model: 'fake/ok',
    ...promptOf('Say something memorable.'),
  })
  expect(parsed(String(details['response_body']))).toEqual(answer.body)
  const id = String(details['id'])
  expect((await fixture.read(`/${id}/details`, unwilling)).status).toBe(404)
  const others = await fixture.detailsOf(await fixture.chat('ok', {}, unwilling), unwilling)
  expect(others).toMatchObject({ request_body: null, response_body: null })
  const rows = await fixture.sql`select 1 from request_body where user_id = ${unwilling.userId}`
  expect(rows).toHaveLength(0)
})

test('a stream is kept as the answer that it stands for, in each format', async () => {
  const stream = await fixture.stream('chunks-6', {}, willing)
  const chat = parsed(String((await fixture.detailsOf(stream, willing))['response_body']))
  expect(chat).toMatchObject({ object: 'chat.completion', model: 'fake/chunks-6' })
  expect(valueAt(chat, 'choices.0.message.content')).toBe(stream.content)
  expect(valueAt(chat, 'choices.0.finish_reason')).toBe('stop')
  const body = { model: 'sandbox/echo', prompt: 'Once upon a time', stream: true }
  const path = '/v1/completions'
  const text = await fixture.post(body, { path, as: willing })
  const kept = parsed(String((await fixture.detailsOf(text, willing))['response_body']))
  expect(kept['object']).toBe('text_completion')
  expect(valueAt(kept, 'choices.0.text')).toBeString()
  const message = { model: 'sandbox/echo', messages, max_tokens: 16, stream: true }
  const messagesAnswer = await fixture.post(message, { path: '/v1/messages', as: willing })
  expect((await fixture.detailsOf(messagesAnswer, willing))['response_body']).toContain('choices')
})

test('a rejected request keeps its body', async () => {
  const answer = await fixture.post({ model: 'no/such', messages }, { as: willing })
  const { request_body, response_body } = await fixture.detailsOf(answer, willing)
  expect(request_body).toContain('no/such')
  expect(response_body).toBeNull()
})

test('secrets are removed at every place', async () => {
  const text = `before\n${canaries.join('\n')} "${canaries.join('","')}" after`
  const fields = {
    ...promptOf(text),
    metadata: { note: canaries[0] },
    tools: [
      {
        type: 'function',
        function: { name: 'f', parameters: { type: 'object', authorization: 'plain-canary-word' } },
      },
    ],
  }
  const answer = await fixture.chat('ok', fields, willing)
  expect(answer.status).toBe(200)
  const echoed = await fixture.post(
    { model: 'sandbox/echo', ...promptOf(text), stream: true },
    { as: willing },
  )
  for (const one of [answer, echoed]) {
    const details = await fixture.detailsOf(one, willing)
    const kept = `${String(details['request_body'])} ${String(details['response_body'])}`
    for (const canary of [...canaries, 'plain-canary-word']) expect(kept).not.toContain(canary)
    expect(kept).toContain('before')
    expect(kept).toContain('[secret]')
    expect(kept).not.toContain(willing.key)
  }
})

test('long ones are cut with a mark, whole and as a stream', async () => {
  const content = `é${'long words '.repeat(20_000)}`
  const answer = await fixture.post(
    { model: 'sandbox/echo', ...promptOf(content) },
    { as: willing },
  )
  const streamed = await fixture.post(
    { model: 'sandbox/echo', ...promptOf(content), stream: true },
    { as: willing },
  )
  for (const one of [answer, streamed]) {
    expect(one.status).toBe(200)
    const { request_body } = await fixture.detailsOf(one, willing)
    expect(Buffer.byteLength(String(request_body))).toBeLessThanOrEqual(bodyBytes)
    expect(request_body).toEndWith('[cut]')
  }
})

test('nothing is kept once the account or the operator does not want it', async () => {
  await allow(false)
  await until(false, willing)
  await allow(true)
  await until(true, willing)
  await fixture.sql`update users set log_bodies = false where id = ${willing.userId}`
  await until(false, willing)
})
