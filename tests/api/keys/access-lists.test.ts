import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { call, listIn, problem } from '../catalogue/requests'
import { eventually } from '../../../server/testing/eventually'
import { startTwoNodes } from '../../harness/database'
import { messages, sendRequest, type Answer, type Json } from '../../harness/http'
import { startRig, type Customer, type Rig } from '../../harness/server'

let rig: Rig
let owner: Customer

const [cheap, other] = ['fake/ok', 'fake/ok-other'] as const

beforeAll(async () => {
  rig = await startRig({ environment: { MINIMUM_BALANCE_USD: '0' } })
  for (const name of ['ok', 'ok-other']) {
    await rig.model(name, { pricing: { input: 1000, output: 4000 } })
  }
  await rig.model('ok-embedding', { category: 'embedding', pricing: { input: 1, output: 0 } })
  owner = await rig.gateway.customer({ permissions: ['admin'] })
  for (const [name, ...members] of [
    ['both', other, cheap],
    ['others', other],
  ]) {
    const body = {
      name,
      display_name: name,
      strategy: 'priority',
      members: members.map((model_id, priority) => ({ model_id, priority: priority + 1 })),
    }
    const made = await api('POST /user/model-collections', body)
    if (made.status !== 201) throw new Error(made.text)
  }
  for (const [source_pattern, target_model] of [
    ['to-other', other],
    ['to-both', 'collection/both'],
  ]) {
    await api('POST /user/model-mappings', { source_pattern, target_model })
  }
})
afterAll(async () => {
  rig.gateway.recorder.verify()
  await rig[Symbol.asyncDispose]()
})

/** An account has 50 keys at most. */
const keyIds: string[] = []
afterEach(async () => {
  for (const id of keyIds.splice(0)) await api(`DELETE /account/keys/${id}`)
})

const api = (request: string, body?: Json) => call(rig.gateway, owner, request, body)

async function newKey(fields: Json) {
  const created = await api('POST /account/keys', { name: 'Listed', ...fields })
  if (created.status !== 201) throw new Error(created.text)
  keyIds.push(String(created.body['id']))
  return { id: String(created.body['id']), key: String(created.body['key']) }
}

const chat = (key: string, model: string, fields: Json = {}) =>
  sendRequest(rig.gateway, { key, body: { model, messages, ...fields } })

const refusal = ({ status, error }: Answer) => [status, error.code, error.message]
const refusedBy = (list: string) => [
  403,
  'model_access_denied',
  expect.stringContaining(`its ${list} `),
]

describe('a model is rejected for a key', () => {
  test.each<[Json, string, string]>([
    [{ denied_models: [other] }, other, 'denied_models'],
    [{ denied_models: ['fake/*'] }, other, 'denied_models'],
    [{ denied_models: [`${other}-latest`] }, other, 'denied_models'],
    [{ denied_models: [other] }, `${other}-latest`, 'denied_models'],
    [{ denied_models: [`${other}-2026-01-31`] }, `${other}-2026-01-31`, 'denied_models'],
    [{ denied_models: [other], allowed_models: ['fake/*'] }, other, 'denied_models'],
    [{ denied_models: [other] }, 'to-other', 'denied_models'],
    [{ denied_models: [other] }, 'collection/others', 'denied_models'],
    [{ denied_providers: ['fake'] }, other, 'denied_providers'],
    [{ denied_providers: ['fake'], allowed_models: [other] }, other, 'denied_providers'],
    [{ allowed_providers: ['sandbox'] }, other, 'allowed_providers'],
    [{ allowed_providers: ['sandbox'] }, 'to-other', 'allowed_providers'],
    [{ allowed_providers: ['sandbox'], allowed_models: [other] }, other, 'allowed_providers'],
    [{ allowed_models: [cheap] }, other, 'allowed_models'],
    [{ denied_collections: ['collection/both'] }, 'collection/both', 'denied_collections'],
    [{ denied_collections: ['collection/*'] }, 'to-both', 'denied_collections'],
    [{ allowed_collections: ['collection/others'] }, 'to-both', 'allowed_collections'],
  ])('with %j: %s', async (lists, model, list) => {
    const { key } = await newKey(lists)
    rig.upstream.reset()
    expect(refusal(await chat(key, model))).toEqual(refusedBy(list))
    expect(rig.upstream.requests()).toEqual([])
  })

  test.each<[Json, string]>([
    [{ denied_models: [other] }, cheap],
    // A version of its own.
    [{ denied_models: [`${other}-2026-01-31`] }, other],
    [{ denied_providers: ['sandbox'] }, other],
    [{ allowed_providers: ['fake', 'sandbox'] }, 'sandbox/echo'],
    [{ denied_collections: ['collection/both'] }, other],
    [{ allowed_collections: ['collection/both'] }, 'collection/both'],
    [{ denied_endpoints: ['embeddings'] }, other],
  ])('a key with %j may call %s', async (lists, model) => {
    const { key } = await newKey(lists)
    expect((await chat(key, model)).status).toBe(200)
  })

  test('while the other models of a collection, and of a list, serve it', async () => {
    const { key } = await newKey({ denied_models: [other] })
    for (const answer of [
      await chat(key, 'collection/both'),
      await chat(key, other, { models: [cheap] }),
      await chat(key, 'collection/others', { models: ['collection/both'] }),
    ]) {
      expect([answer.status, answer.body['model']]).toEqual([200, cheap])
    }
    const narrow = await newKey({ denied_collections: ['collection/both'] })
    const fallback = await chat(narrow.key, 'collection/both', { models: [other] })
    expect([fallback.status, fallback.body['model']]).toEqual([200, other])
  })
})

async function idsFor(key: string): Promise<Set<string>> {
  const answer = await sendRequest(rig.gateway, { path: '/v1/models', method: 'GET', key })
  return new Set(listIn(answer, 'data').map(({ id }) => String(id)))
}

describe('the list of models has those that a key may call', () => {
  test.each<[Json, readonly string[], readonly string[]]>([
    [{}, [cheap, other, 'collection/both', 'collection/others'], []],
    [{ denied_models: [other] }, [cheap, 'collection/both'], [other, 'collection/others']],
    [{ denied_providers: ['fake'] }, ['sandbox/echo'], [cheap, other, 'collection/both']],
    [{ allowed_providers: ['fake'] }, [cheap, other], ['sandbox/echo']],
    [{ denied_collections: ['collection/*'] }, [cheap], ['collection/both', 'collection/others']],
    [{ allowed_collections: ['collection/both'] }, ['collection/both'], ['collection/others']],
  ])('with %j', async (lists, shown, hidden) => {
    const ids = await idsFor((await newKey(lists)).key)
    expect(shown.filter((id) => !ids.has(id))).toEqual([])
    expect(hidden.filter((id) => ids.has(id))).toEqual([])
  })

  test('by the models that aliases lead to, with the list in the reason of others', async () => {
    const source_pattern = cheap
    const mapped = await api('POST /user/model-mappings', { source_pattern, target_model: other })
    const { key } = await newKey({ denied_models: [other] })
    await eventually(async () => !(await idsFor(key)).has(cheap))
    const all = await sendRequest(rig.gateway, { path: '/v1/models?all=true', method: 'GET', key })
    const shown = listIn(all, 'data').find(({ id }) => id === cheap)
    expect(shown?.['unavailable']).toEqual({
      reason: 'not_allowed_by_key',
      message: expect.stringContaining('its denied_models include it'),
    })
    await api(`DELETE /user/model-mappings/${String(mapped.body['id'])}`)
    await eventually(async () => (await idsFor(key)).has(cheap))
  })
})

describe('an endpoint is rejected for a key', () => {
  const prompt = { max_tokens: 20, messages }
  const requests: [string, string, Json][] = [
    ['/v1/chat/completions', 'chat', { messages }],
    ['/v1/messages', 'chat', prompt],
    ['/v1/messages/count_tokens', 'chat', { messages }],
    ['/v1/responses', 'chat', { input: 'Hello' }],
    ['/v1/completions', 'completions', { prompt: 'Hello' }],
    ['/v1/moderations', 'moderations', { input: 'Hello', model: 'sandbox/moderation' }],
    ['/v1/rerank', 'rerank', { query: 'a', documents: ['a'], model: 'sandbox/rerank' }],
    ['/v2/rerank', 'rerank', { query: 'a', documents: ['a'], model: 'sandbox/rerank' }],
    ['/v1/embeddings', 'embeddings', { input: 'Hello', model: 'fake/ok-embedding' }],
  ]

  test.each(requests)('%s as %s', async (path, endpoint, fields) => {
    const body = { model: cheap, ...fields }
    const send = ({ key }: { key: string }) => sendRequest(rig.gateway, { path, key, body })
    const denying = await send(await newKey({ denied_endpoints: [endpoint] }))
    expect([denying.status, denying.text]).toEqual([
      403,
      expect.stringContaining('its denied_endpoints include it'),
    ])
    const elsewhere = endpoint === 'chat' ? 'speech' : 'chat'
    const narrow = await send(await newKey({ allowed_endpoints: [elsewhere] }))
    expect([narrow.status, narrow.text]).toEqual([
      403,
      expect.stringContaining('its allowed_endpoints do not include it'),
    ])
    expect((await send(await newKey({ allowed_endpoints: [endpoint] }))).status).toBe(200)
  })

  test('with its name in the error, in conversations that are stored too', async () => {
    const { key } = await newKey({ allowed_endpoints: ['embeddings'], permissions: ['admin'] })
    const { status, error } = await chat(key, cheap)
    expect([status, error.code, error.details]).toEqual([
      403,
      'insufficient_permissions',
      { required: ['allowed_endpoint'], current: ['chat'] },
    ])
    const session = await call(rig.gateway, { key }, 'POST /automation/sessions', {
      modelId: cheap,
    })
    const message = await call(
      rig.gateway,
      { key },
      `POST /automation/sessions/${String(session.body['id'])}/messages`,
      { content: 'Hello' },
    )
    expect(message.text).toContain('allowed_endpoint')
    expect(message.status).toBe(403)
  })
})

test('lists are shown, changed and taken away; a key with one makes and changes no key', async () => {
  const lists = {
    denied_models: [other, 'sandbox/*'],
    allowed_providers: ['fake'],
    denied_providers: ['openai'],
    allowed_collections: ['collection/both'],
    denied_collections: ['collection/others'],
    allowed_endpoints: ['chat', 'embeddings'],
    denied_endpoints: ['speech'],
  }
  const { id } = await newKey({ ...lists, denied_models: [...lists.denied_models, other] })
  const shown = async () =>
    listIn(await api('GET /account/keys'), 'keys').find((one) => one['id'] === id)
  expect(await shown()).toMatchObject({ ...lists, allowed_models: null })
  const changed = await api(`PATCH /account/keys/${id}`, {
    denied_models: null,
    denied_endpoints: ['images'],
  })
  expect(changed.body).toMatchObject({
    ...lists,
    denied_models: null,
    denied_endpoints: ['images'],
  })
  for (const [name, list] of Object.entries(lists)) {
    const { key } = await newKey({ [name]: list, permissions: ['admin'] })
    const made = await call(rig.gateway, { key }, 'POST /account/keys', { name: 'Free' })
    expect(problem(made)).toEqual([400, null, 'not_allowed'])
  }
})

test.each<[Json, string, string]>([
  [{ denied_models: [] }, 'denied_models', 'empty'],
  [{ denied_models: ['gpt-4o'] }, 'denied_models.0', 'bad_format'],
  // It would deny nothing.
  [{ denied_models: ['openai/gpt-*'] }, 'denied_models.0', 'bad_format'],
  [{ denied_providers: ['openai/*'] }, 'denied_providers.0', 'bad_format'],
  [{ allowed_collections: ['both'] }, 'allowed_collections.0', 'bad_format'],
  [{ denied_collections: ['collection/b*'] }, 'denied_collections.0', 'bad_format'],
  [{ allowed_endpoints: ['chat', '/v1/messages'] }, 'allowed_endpoints.1', 'unknown_value'],
  [{ denied_endpoints: 'chat' }, 'denied_endpoints', 'wrong_type'],
])('%j is rejected', async (fields, param, issue) => {
  const refused = await api('POST /account/keys', { name: 'Wrong', ...fields })
  expect(problem(refused)).toEqual([400, param, issue])
})

test('a list that is changed on one node counts on the other soon after', async () => {
  await using nodes = await startTwoNodes()
  const { a, b } = nodes
  const customer = await a.customer({ permissions: ['admin'] })
  const send = async () => {
    const body = { model: 'sandbox/echo', messages }
    return (await sendRequest(b, { key: customer.key, body })).status
  }
  await eventually(async () => (await send()) === 200)
  const path = `/users/${customer.userId}/keys/${customer.keyId}`
  for (const fields of [{ denied_providers: ['sandbox'] }, { denied_endpoints: ['chat'] }]) {
    await a.admin('PUT', path, fields)
    await eventually(async () => (await send()) === 403)
    await a.admin('PUT', path, { denied_providers: null, denied_endpoints: null })
    await eventually(async () => (await send()) === 200)
  }
  for (const node of [a, b]) node.recorder.verify()
})
