import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { defaultHello, type Agent, type Frame } from '../../harness/tunnel-agent'
import { createGatewayFixture, type GatewayFixture } from './fixture'
import { sendRequest, toForm, type FormFields, type Json } from '../../harness/http'
import type { Customer } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'
import { wav } from '../../../server/testing/sound-files'

/** Images and sound that a self-hosted gateway passes on, as far as its version does. */

let fixture: GatewayFixture
let owner: Customer
let agent: Agent

beforeAll(async () => {
  fixture = await createGatewayFixture()
  const served = await fixture.served({ hello: { ...defaultHello, features: ['media'] } })
  owner = served.owner
  agent = served.agent
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => {
  fixture.gateway.recorder.verify()
  agent.frames.length = 0
  agent.answer = (request) => agent.whole(request)
})

const model = 'fake/mine'
const recording = () => new File([wav(60)], 'talk.wav', { type: 'audio/wav' })

const upload = (by: Pick<Customer, 'key'>, path: string, form: FormFields) =>
  fetch(`${fixture.gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${by.key}` },
    body: toForm({ model, ...form }),
  })

const speak = ({ key }: Pick<Customer, 'key'>, fields: Json = {}) =>
  sendRequest(fixture.gateway, {
    key,
    path: '/v1/audio/speech',
    body: { model, input: 'Hello', voice: 'alloy', ...fields },
  })

/** The content that has come so far. */
const receivedContent = () =>
  Buffer.concat(agent.seen('content').map(({ data }) => Buffer.from(String(data), 'base64')))

/** Grants all of the content, and answers once it has come. */
function takeContent(answer: (request: Frame) => void) {
  agent.answer = (request) => {
    const bytes = Number(Object(request['content']).bytes)
    const isWhole = () => {
      agent.send({ type: 'window', id: request.id, bytes })
      return receivedContent().byteLength === bytes
    }
    void eventually(isWhole).then(() => answer(request))
  }
}

test('a recording follows its request, as far as it is granted', async () => {
  const file = recording()
  const requested = Promise.withResolvers<Frame>()
  agent.answer = requested.resolve
  const pending = upload(owner, '/v1/audio/transcriptions', { file })
  const request = await requested.promise
  expect(request).toMatchObject({
    path: '/audio/transcriptions',
    body: {},
    content: { type: expect.stringMatching(/^multipart\/form-data; boundary=/) },
  })
  await eventually(() => receivedContent().byteLength === 262_144)
  takeContent((frame) => agent.whole(frame, { text: 'Hello there.' }))
  agent.answer(request)
  const response = await pending
  expect([response.status, await response.text()]).toEqual([
    200,
    expect.stringContaining('Hello there.'),
  ])
  expect(receivedContent().includes(Buffer.from(await file.arrayBuffer()))).toBe(true)
})

test('a caller who leaves in the middle of an upload ends it at the gateway', async () => {
  const leaving = new AbortController()
  agent.answer = () => leaving.abort()
  const pending = fetch(`${fixture.gateway.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${owner.key}` },
    body: toForm({ model, file: recording() }),
    signal: leaving.signal,
  }).catch(() => undefined)
  await pending
  await eventually(() => agent.seen('cancel').length === 1)
})

test('a server may refuse a recording before it has come', async () => {
  const refusal = { error: { message: 'Too long.', type: 'invalid_request_error' } }
  agent.answer = (request) => agent.whole(request, refusal, 413)
  const response = await upload(owner, '/v1/audio/transcriptions', { file: recording() })
  expect(response.status).toBe(400)
})

test('speech comes as bytes, with the type that its server states', async () => {
  const sound = Buffer.from([0xff, 0xf3, 0x00, 0x80])
  agent.answer = ({ id }) => {
    const headers = { 'content-type': 'audio/mpeg' }
    const data = sound.toString('base64')
    agent.send({ type: 'chunk', id, data, encoding: 'base64', headers })
    agent.send({ type: 'chunk', id, data, encoding: 'base64' })
    agent.send({ type: 'response', id, status: 200 })
  }
  const response = await fetch(`${fixture.gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${owner.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, input: 'Hello', voice: 'alloy' }),
  })
  expect(response.headers.get('content-type')).toBe('audio/mpeg')
  expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.concat([sound, sound]))
  expect(agent.seen('request')).toMatchObject([
    { path: '/audio/speech', stream: true, binary: true, body: { input: 'Hello' } },
  ])
})

test('speech that breaks ends without the end of its body', async () => {
  agent.answer = (request) => agent.fail(request, 'connection_failed', true)
  const { status, error } = await speak(owner)
  expect([status, error.code]).toEqual([502, 'connection_failed'])
})

test('a request for changed images has them as JSON, at a server that takes it', async () => {
  agent.answer = (request) => agent.whole(request, { created: 1, data: [{ b64_json: 'iVBORw0K' }] })
  const image_url = 'data:image/png;base64,iVBORw0KGgo='
  const { status } = await sendRequest(fixture.gateway, {
    key: owner.key,
    path: '/v1/images/edits',
    body: { model, prompt: 'At dusk', images: [{ image_url }] },
  })
  expect(status).toBe(200)
  expect(agent.seen('request')).toMatchObject([
    { path: '/images/edits', body: { images: [{ image_url }] } },
  ])
})

test.each(['/v1/moderations', '/v1/rerank'])('%s reaches the server', async (path) => {
  const results = [{ index: 0, relevance_score: 0.5, flagged: false, categories: {} }]
  agent.answer = (request) => agent.whole(request, { id: 'one', results })
  const body = path === '/v1/rerank' ? { query: 'one', documents: ['two'] } : { input: 'one' }
  const { status } = await sendRequest(fixture.gateway, {
    key: owner.key,
    path,
    body: { model, ...body },
  })
  expect(status).toBe(200)
  expect(agent.seen('request')).toMatchObject([{ path: path.replace('/v1', '') }])
})

test('a gateway of an earlier version is sent neither files nor requests for sound', async () => {
  const old = await fixture.served()
  const image = new File([Buffer.from('iVBORw0KGgo=', 'base64')], 'a.png', { type: 'image/png' })
  const answers = [
    await speak(old.owner).then(({ text }) => text),
    await upload(old.owner, '/v1/audio/transcriptions', { file: recording() }),
    await upload(old.owner, '/v1/audio/translations', { file: recording() }),
    await upload(old.owner, '/v1/images/edits', { image, prompt: 'At dusk' }),
    await upload(old.owner, '/v1/images/variations', { image }),
  ]
  for (const answer of answers) {
    const text = answer instanceof Response ? await answer.text() : answer
    expect(text).toContain('Update its tollgate connect.')
    expect(text).toContain('unsupported_by_model')
  }
  expect(old.agent.seen('request')).toEqual([])
})
