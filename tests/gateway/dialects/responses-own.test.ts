import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { newOrganization } from '../../harness/organization'
import { call, idIn, createFixture, type Fixture } from '../../harness/byok'
import { sendRequest, type Json } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
  const pricing = { input: 1, output: 4 }
  await fixture.gateway.admin('PUT', '/models/openai/gpt-6-astra', { pricing })
})
afterEach(() => fixture.reset())
afterAll(() => fixture[Symbol.asyncDispose]())

const answer: Json = {
  id: 'resp_theirs',
  object: 'response',
  status: 'completed',
  model: 'gpt-6-astra',
  store: true,
  previous_response_id: 'resp_before',
  output: [],
  usage: { input_tokens: 10, output_tokens: 3, total_tokens: 13 },
}

/** What names things that OpenAI keeps for the owner of the key, and tools that it runs. */
const everything: Json = {
  model: 'openai/gpt-6-astra',
  input: [{ type: 'item_reference', id: 'msg_theirs' }],
  previous_response_id: 'resp_before',
  prompt: { id: 'pmpt_1' },
  tools: [
    { type: 'web_search' },
    { type: 'file_search', vector_store_ids: ['vs_1'] },
    { type: 'mcp', server_label: 'a', server_url: 'https://example.com' },
    { type: 'code_interpreter', container: 'cntr_1' },
    { type: 'image_generation' },
    { type: 'made_up_next_year' },
  ],
  service_tier: 'priority',
  store: true,
}

test('on a connection of the caller’s own all goes on, and the answer keeps the id that its provider knows', async () => {
  const owner = await fixture.newCustomer()
  idIn(
    await call(fixture.gateway, owner, 'POST /connections', {
      name: 'Mine',
      provider: 'openai',
      api_key: 'sk-own-0123456789',
      endpoint_url: `${fixture.upstream.url}/v1`,
    }),
  )
  fixture.upstream.answer = () => Response.json(answer)
  const result = await sendRequest(fixture.gateway, {
    path: '/v1/responses',
    key: owner.key,
    body: everything,
  })
  expect([result.status, result.headers.get('x-tollgate-omitted')]).toEqual([200, null])
  const [request] = fixture.upstream.requests
  expect(request?.path).toBe('/v1/responses')
  expect(request?.body).toEqual({ ...everything, model: 'gpt-6-astra' })
  expect(result.body).toEqual({ ...answer, model: 'openai/gpt-6-astra' })
})

test('on a connection of the caller’s own an answer in the background is Tollgate’s to keep, not its provider’s', async () => {
  const owner = await fixture.newCustomer()
  const { key } = owner
  idIn(
    await call(fixture.gateway, owner, 'POST /connections', {
      name: 'Mine',
      provider: 'openai',
      api_key: 'sk-own-0123456789',
      endpoint_url: `${fixture.upstream.url}/v1`,
    }),
  )
  const message = { type: 'message', id: 'msg_theirs', role: 'assistant', status: 'completed' }
  const output = [
    { ...message, content: [{ type: 'output_text', text: 'Hello.', annotations: [] }] },
  ]
  const events = [
    { type: 'response.created', response: { ...answer, status: 'in_progress' } },
    { type: 'response.completed', response: { ...answer, output } },
  ].map((event, number) => ({ ...event, sequence_number: number }))
  const frames = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  fixture.upstream.answer = () =>
    new Response(frames.join(''), { headers: { 'content-type': 'text/event-stream' } })
  const file = { type: 'input_file', file_id: 'file-1' }
  const input = [{ role: 'user', content: [file] }]
  const body = { model: 'openai/gpt-6-astra', input, background: true }
  const result = await sendRequest(fixture.gateway, { path: '/v1/responses', key, body })
  expect([result.status, result.body['status']]).toEqual([200, 'queued'])
  const id = String(result.body['id'])
  let found: Json = {}
  const asking = { method: 'GET', path: `/v1/responses/${id}`, key }
  await eventually(async () => {
    found = (await sendRequest(fixture.gateway, asking)).body
    return found['status'] === 'completed'
  })
  expect(found).toMatchObject({ id, status: 'completed', background: true, store: true, output })
  expect(found['previous_response_id']).toBeNull()
  expect(fixture.upstream.requests.map((request) => request.body)).toEqual([
    {
      model: 'gpt-6-astra',
      input,
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
    },
  ])
})

test('on a connection that an organization shares, a member reads nothing that its provider keeps of others', async () => {
  const { owner, id, member } = await newOrganization(fixture)
  idIn(
    await call(fixture.gateway, owner, 'POST /connections', {
      name: 'Ours',
      provider: 'openai',
      api_key: 'sk-ours-0123456789',
      endpoint_url: `${fixture.upstream.url}/v1`,
      scope: 'organization',
      organization_id: id,
    }),
  )
  fixture.upstream.answer = () => Response.json(answer)
  const { key } = await member()
  const plain = { model: 'openai/gpt-6-astra', input: 'Hi.' }
  const asking = (fields: Json) =>
    sendRequest(fixture.gateway, { path: '/v1/responses', key, body: { ...plain, ...fields } })
  for (const fields of [
    { previous_response_id: 'resp_before' },
    { conversation: 'conv_1' },
    { input: [{ type: 'item_reference', id: 'msg_theirs' }] },
    { multi_agent: { enabled: true } },
  ]) {
    const refused = await asking(fields)
    expect([refused.status, refused.error.details?.['issue']]).toEqual([400, 'not_allowed'])
  }
  expect(fixture.upstream.requests).toEqual([])
  const result = await asking({ tools: [{ type: 'web_search' }] })
  expect(result.status).toBe(200)
  expect(result.body['id']).not.toBe('resp_theirs')
  expect(fixture.upstream.requests[0]?.body).toMatchObject({
    store: false,
    tools: [{ type: 'web_search' }],
  })
})
