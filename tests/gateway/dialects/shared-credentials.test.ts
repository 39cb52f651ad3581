import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { newOrganization } from '../../harness/organization'
import { call, completion, createFixture, idIn, type Fixture } from '../../harness/byok'
import { sendRequest, type Answer, type Json } from '../../harness/http'
import { upstreamSecret, type Customer } from '../../harness/server'
import { openFront, type Front } from '../../providers/translated/front'

const hello = [{ role: 'user', content: 'Hello' }]
const said = (part: Json): Json => ({ messages: [{ role: 'user', content: [part] }] })
const image = (url: string) => said({ type: 'image_url', image_url: { url } })
const file = (id: string) => said({ type: 'file', file: { file_id: id } })
const outcome = ({ status, error }: Answer) => [status, error.param, error.details?.['issue']]
const refused = (param: string) => [400, param, 'not_allowed']

describe('on the platform’s credential', () => {
  const gemini = 'google/gemini-2.5-flash'
  const gpt = 'openai/gpt-4o'
  const claude = 'anthropic/claude-sonnet-4-6'
  let front: Front

  beforeAll(async () => {
    front = await openFront((url) => ({
      GEMINI_API_KEY: upstreamSecret,
      GEMINI_BASE_URL: url,
      OPENAI_API_KEY: upstreamSecret,
      OPENAI_BASE_URL: url,
      ANTHROPIC_API_KEY: upstreamSecret,
      ANTHROPIC_BASE_URL: url,
    }))
    for (const name of [gemini, gpt, claude]) await front.price(name)
  })
  afterEach(() => front.reset())
  afterAll(() => front[Symbol.asyncDispose]())

  const uploaded = 'https://generativelanguage.googleapis.com/v1beta/files/x'
  const part = 'messages.0.content.0'
  test.each<[string, Json, string]>([
    [gemini, file('gs://operator/x.pdf'), `${part}.file.file_id`],
    [gemini, file(uploaded), `${part}.file.file_id`],
    [gemini, image(uploaded), `${part}.image_url.url`],
    [gpt, file('file-1'), `${part}.file.file_id`],
    [claude, file('file_1'), `${part}.file.file_id`],
    [gpt, { data_sources: [{ type: 'azure_search' }] }, 'data_sources'],
  ])('finding S20: %s does not read %j for a customer', async (model, fields, param) => {
    for (const stream of [false, true]) {
      const answer = await front.chat(model, { messages: hello, ...fields, stream })
      expect(outcome(answer)).toEqual(refused(param))
    }
    expect(front.requests).toEqual([])
  })

  test('finding S20: Messages and Responses do not read it either, translated, passed through, or counted', async () => {
    const source = { type: 'url', url: uploaded }
    const message = { max_tokens: 10, ...said({ type: 'image', source }) }
    const stored = said({ type: 'document', source: { type: 'file', file_id: 'file_1' } })
    const picture = { type: 'input_image', image_url: uploaded }
    const input = [{ role: 'user', content: [picture] }]
    const answers = [
      await front.post('/v1/messages', { model: gemini, ...message }),
      await front.post('/v1/messages', { model: claude, ...message }),
      await front.post('/v1/messages/count_tokens', { model: claude, ...stored }),
      await front.post('/v1/responses', { model: gemini, input }),
      await front.post('/v1/responses', { model: gpt, input }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400])
    expect(front.requests).toEqual([])
  })

  test('finding S23: sub-agents do not run at a price that does not cover them', async () => {
    const agents = { multi_agent: { enabled: true, max_concurrent_subagents: 1000 } }
    const answer = await sendRequest(front.gateway, {
      path: '/v1/responses',
      key: front.customer.key,
      headers: { 'openai-beta': 'responses_multi_agent=v1' },
      body: { model: gpt, input: 'Hi.', max_output_tokens: 50, ...agents },
    })
    expect(outcome(answer)).toEqual([400, 'multi_agent', 'unsupported_by_model'])
    expect(front.requests).toEqual([])
  })

  test('finding S24: fields that are not known are left out and named', async () => {
    front.answer = () => completion()
    const unknown = { store: true, metadata: { a: 'b' }, rid: 'r', cache_salt: 's', api_key: 'k' }
    const answer = await front.chat(gpt, { messages: hello, top_k: 5, ...unknown })
    expect([answer.status, answer.headers.get('x-tollgate-omitted')]).toEqual([
      200,
      Object.keys(unknown).join(', '),
    ])
    expect(front.requests[0]?.body).toEqual({ model: 'gpt-4o', messages: hello, top_k: 5 })
  })
})

describe('on the credential of an organization, and on the caller’s own', () => {
  let fixture: Fixture
  let key: string
  let own: Customer

  beforeAll(async () => {
    fixture = await createFixture()
    const { gateway, upstream } = fixture
    const { owner, id, member } = await newOrganization(fixture)
    own = await fixture.newCustomer()
    for (const provider of ['openai', 'anthropic']) {
      const version = provider === 'openai' ? '/v1' : ''
      const connection = {
        name: 'Ours',
        provider,
        api_key: 'sk-ours-0123456789',
        endpoint_url: `${upstream.url}${version}`,
      }
      const ofOrganization = { scope: 'organization', organization_id: id }
      idIn(await call(gateway, owner, 'POST /connections', { ...connection, ...ofOrganization }))
      idIn(await call(gateway, own, 'POST /connections', connection))
    }
    key = (await member()).key
  })
  afterEach(() => fixture.reset())
  afterAll(() => fixture[Symbol.asyncDispose]())

  interface Sent {
    key: string
    body: Json
    headers?: Record<string, string>
  }
  const send = (path: string, sent: Sent) => sendRequest(fixture.gateway, { path, ...sent })
  const claude = 'anthropic/claude-sonnet-4-6'
  const message = (fields: Json) => ({ model: claude, max_tokens: 10, messages: hello, ...fields })

  test.each<[string, Json, string]>([
    ['a conversation', { thread: { type: 'create' } }, 'thread'],
    ['a container', { container: 'container_1' }, 'container'],
    [
      'a file',
      said({ type: 'document', source: { type: 'file', file_id: 'file_1' } }),
      'messages.0.content.0.source.file_id',
    ],
    [
      'a file for a container',
      said({ type: 'container_upload', file_id: 'file_1' }),
      'messages.0.content.0.file_id',
    ],
  ])(
    'finding S27: %s of an organization’s account is not read for a member',
    async (_what, fields, param) => {
      for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
        const answer = await send(path, { key, body: message(fields) })
        expect(answer.status).toBe(400)
        expect(JSON.stringify(answer.body['error'])).toContain(`${param}: data stored`)
      }
      expect(fixture.upstream.requests).toEqual([])
    },
  )

  test('finding S24: all of it passes on the caller’s own credential', async () => {
    const fields = { made_up: 1, ...said({ type: 'container_upload', file_id: 'file_1' }) }
    const beta = 'files-api-2025-04-14,made-up-2026-10-01'
    fixture.upstream.answer = () =>
      Response.json({
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        content: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      })
    const body = message(fields)
    const answer = await send('/v1/messages', {
      key: own.key,
      body,
      headers: { 'anthropic-beta': beta },
    })
    expect([answer.status, answer.headers.get('x-tollgate-omitted')]).toEqual([200, null])
    const [request] = fixture.upstream.requests
    expect(request?.body).toEqual({ ...body, model: 'claude-sonnet-4-6' })
    expect(request?.headers.get('anthropic-beta')).toBe(beta)
    expect(request?.headers.get('anthropic-version')).toBe('2023-06-01')
    const shared = await send('/v1/messages', {
      key,
      body: message({ made_up: 1 }),
      headers: { 'anthropic-beta': beta },
    })
    expect([shared.status, shared.headers.get('x-tollgate-omitted')]).toEqual([
      200,
      'made_up, anthropic-beta.files-api-2025-04-14, anthropic-beta.made-up-2026-10-01',
    ])
    expect(fixture.upstream.requests[1]?.headers.get('anthropic-beta')).toBeNull()
  })

  test('finding S24: a chat passes whole on the caller’s own credential', async () => {
    fixture.upstream.answer = () => completion()
    const chat = { model: 'openai/gpt-4o', rid: 'r', store: true, ...file('file-1') }
    expect((await send('/v1/chat/completions', { key: own.key, body: chat })).status).toBe(200)
    expect(fixture.upstream.requests[0]?.body).toEqual({ ...chat, model: 'gpt-4o' })
    expect(outcome(await send('/v1/chat/completions', { key, body: chat }))).toEqual(
      refused('messages.0.content.0.file.file_id'),
    )
  })
})
