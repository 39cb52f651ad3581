import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { newOrganization } from '../connections/organization'
import { call, idIn, openStage, type Stage } from '../connections/stage'
import { ask, type Json } from '../faults/asking'

setDefaultTimeout(60_000)

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
  const pricing = { input: 1, output: 4 }
  await stage.gateway.admin('PUT', '/models/openai/gpt-6-astra', { pricing })
})
afterEach(() => stage.reset())
afterAll(() => stage[Symbol.asyncDispose]())

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
  const owner = await stage.somebody()
  idIn(
    await call(stage.gateway, owner, 'POST /connections', {
      name: 'Mine',
      provider: 'openai',
      api_key: 'sk-own-0123456789',
      endpoint_url: `${stage.upstream.url}/v1`,
    }),
  )
  stage.upstream.answer = () => Response.json(answer)
  const told = await ask(stage.gateway, { path: '/v1/responses', key: owner.key, body: everything })
  expect([told.status, told.headers.get('x-tollgate-omitted')]).toEqual([200, null])
  const [request] = stage.upstream.seen
  expect(request?.path).toBe('/v1/responses')
  expect(request?.body).toEqual({ ...everything, model: 'gpt-6-astra' })
  expect(told.body).toEqual({ ...answer, model: 'openai/gpt-6-astra' })
})

test('on a connection of the caller’s own an answer in the background is Tollgate’s to keep, not its provider’s', async () => {
  const owner = await stage.somebody()
  const { key } = owner
  idIn(
    await call(stage.gateway, owner, 'POST /connections', {
      name: 'Mine',
      provider: 'openai',
      api_key: 'sk-own-0123456789',
      endpoint_url: `${stage.upstream.url}/v1`,
    }),
  )
  const said = { type: 'message', id: 'msg_theirs', role: 'assistant', status: 'completed' }
  const output = [{ ...said, content: [{ type: 'output_text', text: 'Hello.', annotations: [] }] }]
  const events = [
    { type: 'response.created', response: { ...answer, status: 'in_progress' } },
    { type: 'response.completed', response: { ...answer, output } },
  ].map((event, number) => ({ ...event, sequence_number: number }))
  const frames = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  stage.upstream.answer = () =>
    new Response(frames.join(''), { headers: { 'content-type': 'text/event-stream' } })
  const file = { type: 'input_file', file_id: 'file-1' }
  const input = [{ role: 'user', content: [file] }]
  const body = { model: 'openai/gpt-6-astra', input, background: true }
  const told = await ask(stage.gateway, { path: '/v1/responses', key, body })
  expect([told.status, told.body['status']]).toEqual([200, 'queued'])
  const id = String(told.body['id'])
  let found: Json = {}
  for (let tries = 0; tries < 200 && found['status'] !== 'completed'; tries++) {
    found = (await ask(stage.gateway, { method: 'GET', path: `/v1/responses/${id}`, key })).body
    await Bun.sleep(20)
  }
  expect(found).toMatchObject({ id, status: 'completed', background: true, store: true, output })
  expect(found['previous_response_id']).toBeNull()
  expect(stage.upstream.seen.map((request) => request.body)).toEqual([
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
  const { owner, id, member } = await newOrganization(stage)
  idIn(
    await call(stage.gateway, owner, 'POST /connections', {
      name: 'Ours',
      provider: 'openai',
      api_key: 'sk-ours-0123456789',
      endpoint_url: `${stage.upstream.url}/v1`,
      scope: 'organization',
      organization_id: id,
    }),
  )
  stage.upstream.answer = () => Response.json(answer)
  const { key } = await member()
  const plain = { model: 'openai/gpt-6-astra', input: 'Hi.' }
  const asking = (fields: Json) =>
    ask(stage.gateway, { path: '/v1/responses', key, body: { ...plain, ...fields } })
  for (const fields of [
    { previous_response_id: 'resp_before' },
    { conversation: 'conv_1' },
    { input: [{ type: 'item_reference', id: 'msg_theirs' }] },
  ]) {
    const refused = await asking(fields)
    expect([refused.status, refused.error.details?.['issue']]).toEqual([400, 'not_allowed'])
  }
  expect(stage.upstream.seen).toEqual([])
  const told = await asking({ tools: [{ type: 'web_search' }] })
  expect(told.status).toBe(200)
  expect(told.body['id']).not.toBe('resp_theirs')
  expect(stage.upstream.seen[0]?.body).toMatchObject({
    store: false,
    tools: [{ type: 'web_search' }],
  })
})
