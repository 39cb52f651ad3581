import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { rows, createSessionClient, type SessionClient } from './talk'
import { problem } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import type { Json } from '../../harness/http'
import { startGateway, type Customer, type Gateway } from '../../harness/server'

let gateway: Gateway
let sql: SQL & AsyncDisposable
let customer: Customer
let talk: SessionClient
let other: SessionClient

const modelId = 'sandbox/echo'
const unknown = 'sess_01m7zbr7rr3rrzfbtxk7716g95'

beforeAll(async () => {
  gateway = await startGateway()
  sql = await openDatabase(gateway.dataDir)
  customer = await gateway.customer()
  talk = createSessionClient(gateway, customer)
  other = createSessionClient(gateway, await gateway.customer())
})
afterAll(async () => {
  await sql[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})
afterEach(() => gateway.recorder.verify())

const newTalk = async () => createSessionClient(gateway, await gateway.customer())

describe('a session', () => {
  test('is created, returned in full, listed and deleted', async () => {
    const mine = await newTalk()
    const made = await mine.api('POST /sessions', { modelId })
    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      id: expect.stringMatching(/^sess_[0-9a-hjkmnp-tv-z]{26}$/),
      name: null,
      sessionType: 'chat',
      status: 'active',
      gatewayId: null,
      modelId,
      connectionId: null,
      templateId: null,
      systemPrompt: null,
      enabledTools: null,
      disabledTools: [],
      messageCount: 0,
      totalTokens: { input: 0, output: 0 },
      totalCost: 0,
      summary: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      lastActivityAt: null,
      completedAt: null,
    })
    const id = String(made.body['id'])
    expect(await mine.get(id)).toEqual(made.body)
    const listed = await mine.api('GET /sessions')
    expect(listed.body).toEqual({
      sessions: [made.body],
      pagination: { total: 1, limit: 50, offset: 0, hasMore: false },
    })
    const deleted = await mine.api(`DELETE /sessions/${id}`)
    expect([deleted.status, deleted.body['success']]).toEqual([200, true])
    expect((await mine.api(`GET /sessions/${id}`)).status).toBe(404)
    expect((await mine.api(`DELETE /sessions/${id}`)).status).toBe(404)
  })

  test('stores its fields', async () => {
    const fields = {
      modelId,
      name: 'Mine',
      systemPrompt: 'Be brief.',
      enabledTools: ['a', 'b'],
      disabledTools: ['c'],
    }
    const made = await talk.api('POST /sessions', fields)
    expect(made.body).toMatchObject(fields)
    const changed = { name: null, systemPrompt: null, enabledTools: null, disabledTools: [] }
    const answer = await talk.api(`PATCH /sessions/${String(made.body['id'])}`, changed)
    expect([answer.status, answer.body]).toMatchObject([200, { ...changed, modelId }])
  })

  test('reports errors by field', async () => {
    const bad: [Json, string, string][] = [
      [{}, 'modelId', 'required'],
      [{ modelId: 7 }, 'modelId', 'wrong_type'],
      [{ modelId, sessionType: 'talk' }, 'sessionType', 'unknown_value'],
      [{ modelId, gatewayId: 'gw_1' }, 'gatewayId', 'conflict'],
      [{ modelId, sessionType: 'remote_chat' }, 'gatewayId', 'required'],
      [{ modelId, sessionType: 'automation' }, 'gatewayId', 'required'],
      [{ modelId, name: 'x'.repeat(201) }, 'name', 'too_long'],
      [{ modelId, systemPrompt: 'x'.repeat(20_001) }, 'systemPrompt', 'too_long'],
      [{ modelId, enabledTools: 'all' }, 'enabledTools', 'wrong_type'],
      [{ modelId, disabledTools: Array(201).fill('x') }, 'disabledTools', 'too_many'],
      [{ modelId, disabledTools: ['\ud800'] }, 'disabledTools.0', 'bad_format'],
      [{ modelId, variables: { x: 1 } }, 'variables.x', 'wrong_type'],
      [{ modelId: 'sandbox/embedding' }, 'modelId', 'unsupported_by_model'],
    ]
    for (const [fields, param, issue] of bad) {
      expect(problem(await talk.api('POST /sessions', fields))).toEqual([400, param, issue])
    }
  })

  test('requires an existing model, gateway, connection and template', async () => {
    for (const missing of ['nobody/nothing', 'sandbox/none', 'nonsense']) {
      const refused = await talk.api('POST /sessions', { modelId: missing })
      expect([refused.status, refused.error.code, refused.error.param]).toEqual([
        404,
        'model_not_found',
        'modelId',
      ])
    }
    const absent: Json[] = [
      { modelId, sessionType: 'remote_chat', gatewayId: 'gw_01m7zbr7rr3rrzfbtxk7716g95' },
      { modelId, connectionId: 'conn_01m7zbr7rr3rrzfbtxk7716g95' },
      { modelId, templateId: 'tmpl_01m7zbr7rr3rrzfbtxk7716g95' },
      { modelId, templateId: 'nonsense' },
    ]
    for (const fields of absent) {
      const refused = await talk.api('POST /sessions', fields)
      expect([refused.status, refused.error.code]).toEqual([404, 'resource_not_found'])
    }
  })

  test('is absent for every other account', async () => {
    const id = await talk.session({ modelId })
    const requests: [string, Json?][] = [
      ['GET /sessions/:'],
      ['PATCH /sessions/:', { name: 'x' }],
      ['DELETE /sessions/:'],
      ['POST /sessions/:/complete', {}],
      ['POST /sessions/:/messages', { content: 'x' }],
      ['GET /sessions/:/conversation'],
    ]
    for (const [request, body] of requests) {
      for (const [by, wrong] of [
        [other, id],
        [talk, unknown],
        [talk, 'x'],
      ] as const) {
        const refused = await by.api(request.replace(':', wrong), body)
        expect([request, refused.status, refused.error.code]).toEqual([
          request,
          404,
          'resource_not_found',
        ])
      }
    }
    expect(rows(await other.api('GET /sessions'), 'sessions')).toEqual([])
    expect((await talk.get(id))['status']).toBe('active')
  })

  test('needs a key that may', async () => {
    const reader = createSessionClient(gateway, await gateway.customer({ permissions: ['read'] }))
    const writer = createSessionClient(gateway, await gateway.customer({ permissions: ['write'] }))
    const one = `/sessions/${unknown}`
    for (const request of [
      'POST /sessions',
      `PATCH ${one}`,
      `DELETE ${one}`,
      `POST ${one}/messages`,
      `POST ${one}/complete`,
      'POST /templates',
      `PUT /templates/${unknown}`,
      `DELETE /templates/${unknown}`,
    ]) {
      const refused = await reader.api(request, request.startsWith('DELETE') ? undefined : {})
      expect([refused.status, refused.error.details?.['required']]).toEqual([403, ['write']])
    }
    for (const request of [
      'GET /sessions',
      `GET ${one}`,
      `GET ${one}/conversation`,
      'GET /templates',
    ]) {
      const refused = await writer.api(request)
      expect([refused.status, refused.error.details?.['required']]).toEqual([403, ['read']])
    }
  })

  test('is listed by status and type, in pages', async () => {
    const mine = await newTalk()
    const ids: string[] = []
    for (const name of ['a', 'b', 'c']) ids.push(await mine.session({ modelId, name }))
    await mine.api(`PATCH /sessions/${ids[0]}`, { status: 'paused' })
    const listed = async (query: string) =>
      rows(await mine.api(`GET /sessions?${query}`), 'sessions').map(({ id }) => id)
    expect(await listed('status=paused')).toEqual([ids[0]])
    expect(await listed('status=active')).toHaveLength(2)
    expect(await listed('sessionType=chat')).toHaveLength(3)
    expect(await listed('sessionType=automation')).toEqual([])
    expect(await listed('gatewayId=gw_1')).toEqual([])
    const page = await mine.api('GET /sessions?limit=2')
    expect(page.body['pagination']).toEqual({ total: 3, limit: 2, offset: 0, hasMore: true })
    for (const [query, param] of [
      ['status=new', 'status'],
      ['sessionType=talk', 'sessionType'],
      ['limit=0', 'limit'],
    ] as const) {
      expect((await mine.api(`GET /sessions?${query}`)).error.param).toBe(param)
    }
  })

  test('has no sibling beyond 500 unfinished ones, even under concurrent requests', async () => {
    const own = await gateway.customer()
    const mine = createSessionClient(gateway, own)
    await sql`
      insert into automation_session (id, user_id, session_type, model_id, disabled_tools)
      select 'sess_' || lpad(n::text, 26, '0'), ${own.userId}, 'chat', ${modelId}, '[]'
      from generate_series(1, 498) as n`
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => mine.api('POST /sessions', { modelId })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2)
    const refused = answers.find(({ status }) => status !== 201)
    expect(refused && problem(refused)).toEqual([400, null, 'limit_reached'])
    const first = `sess_${'1'.padStart(26, '0')}`
    await mine.api(`POST /sessions/${first}/complete`)
    expect((await mine.api('POST /sessions', { modelId })).status).toBe(201)
  })
})

describe('the states of a session', () => {
  const refusal = [400, 'status', 'wrong_state']

  test('a paused one hears nothing until it is active again', async () => {
    const id = await talk.session({ modelId })
    const set = (status: string) => talk.api(`PATCH /sessions/${id}`, { status })
    expect((await set('paused')).body['status']).toBe('paused')
    expect(problem(await talk.send(id, 'Hello?'))).toEqual(refusal)
    expect((await set('active')).body['status']).toBe('active')
    expect((await talk.send(id, 'Hello?')).status).toBe(201)
    for (const status of ['completed', 'failed']) {
      expect(problem(await set(status))).toEqual([400, 'status', 'unknown_value'])
    }
    expect(problem(await talk.api(`PATCH /sessions/${id}`, { other: 1 }))).toEqual([
      400,
      null,
      'empty',
    ])
  })

  test('a completed or cancelled one stays as it is, but for its name', async () => {
    const completed = await talk.session({ modelId })
    const done = await talk.api(`POST /sessions/${completed}/complete`, { summary: 'All said.' })
    expect([done.status, done.body]).toMatchObject([
      200,
      { status: 'completed', summary: 'All said.', completedAt: expect.any(String) },
    ])
    const cancelled = await talk.session({ modelId })
    await talk.api(`PATCH /sessions/${cancelled}`, { status: 'cancelled' })
    for (const id of [completed, cancelled]) {
      expect(problem(await talk.send(id, 'Hello?'))).toEqual(refusal)
      expect(problem(await talk.api(`POST /sessions/${id}/complete`, {}))).toEqual(refusal)
      for (const fields of [{ status: 'active' }, { modelId }, { name: 'x', systemPrompt: 'y' }]) {
        expect(problem(await talk.api(`PATCH /sessions/${id}`, fields))).toEqual(refusal)
      }
      const named = await talk.api(`PATCH /sessions/${id}`, { name: 'Done' })
      expect([named.status, named.body['name']]).toEqual([200, 'Done'])
    }
  })

  test('a paused one can be completed, with no body at all', async () => {
    const id = await talk.session({ modelId })
    await talk.api(`PATCH /sessions/${id}`, { status: 'paused' })
    const done = await talk.api(`POST /sessions/${id}/complete`)
    expect([done.status, done.body['status'], done.body['summary']]).toEqual([
      200,
      'completed',
      null,
    ])
    const long = await talk.api(`POST /sessions/${id}/complete`, { summary: 'x'.repeat(5001) })
    expect(problem(long)).toEqual([400, 'summary', 'too_long'])
  })

  test('another model must exist', async () => {
    const id = await talk.session({ modelId })
    const change = (name: string) => talk.api(`PATCH /sessions/${id}`, { modelId: name })
    expect((await change('sandbox/none')).error.code).toBe('model_not_found')
    expect((await change('sandbox/lorem')).body['modelId']).toBe('sandbox/lorem')
  })
})
