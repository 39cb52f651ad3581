import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { rows, createSessionClient, type SessionClient } from './talk'
import { idIn, problem } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import type { Json } from '../../harness/http'
import { startGateway, type Gateway } from '../../harness/server'

let gateway: Gateway
let sql: SQL & AsyncDisposable
let talk: SessionClient
let other: SessionClient

const modelId = 'sandbox/echo'
const system = 'tmpl_00000000000000000000000001'

beforeAll(async () => {
  gateway = await startGateway()
  sql = await openDatabase(gateway.dataDir)
  talk = createSessionClient(gateway, await gateway.customer())
  other = createSessionClient(gateway, await gateway.customer())
})
afterAll(async () => {
  await sql[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})
afterEach(() => gateway.recorder.verify())

const template = async (fields: Json = {}) =>
  idIn(await talk.api('POST /templates', { name: 'Mine', ...fields }))

const listed = async (by: SessionClient, query = '') =>
  rows(await by.api(`GET /templates${query}`), 'templates').map(({ id }) => id)

describe('a template', () => {
  test('is made, changed and deleted; sessions that were made from it stay', async () => {
    const made = await talk.api('POST /templates', { name: ' Plain ' })
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^tmpl_/),
        name: 'Plain',
        description: null,
        category: null,
        systemPrompt: null,
        modelId: null,
        enabledTools: null,
        disabledTools: [],
        initialMessage: null,
        variables: [],
        isPublic: false,
        isSystem: false,
        usageCount: 0,
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      },
    ])
    const id = String(made.body['id'])
    const fields = {
      name: 'Other',
      description: 'Of use.',
      category: 'work',
      systemPrompt: 'Be {{mood}}.',
      modelId,
      enabledTools: ['a'],
      disabledTools: ['b'],
      initialMessage: 'Hello!',
      variables: ['mood'],
      isPublic: true,
    }
    const changed = await talk.api(`PUT /templates/${id}`, fields)
    expect([changed.status, changed.body]).toMatchObject([200, fields])
    const cleared = await talk.api(`PUT /templates/${id}`, { enabledTools: null, category: null })
    expect(cleared.body).toMatchObject({ enabledTools: null, category: null, name: 'Other' })
    const session = await talk.session({ templateId: id, variables: { mood: 'brief' } })
    expect((await talk.api(`DELETE /templates/${id}`)).body['success']).toBe(true)
    expect(await talk.get(session)).toMatchObject({ templateId: null, systemPrompt: 'Be brief.' })
    expect((await talk.api(`DELETE /templates/${id}`)).status).toBe(404)
  })

  test('reports errors by field', async () => {
    const bad: [Json, string, string][] = [
      [{}, 'name', 'required'],
      [{ name: ' ' }, 'name', 'too_short'],
      [{ name: 'x'.repeat(101) }, 'name', 'too_long'],
      [{ name: 'x', description: 'x'.repeat(1001) }, 'description', 'too_long'],
      [{ name: 'x', category: 'x'.repeat(51) }, 'category', 'too_long'],
      [{ name: 'x', systemPrompt: 'x'.repeat(20_001) }, 'systemPrompt', 'too_long'],
      [{ name: 'x', initialMessage: 'x'.repeat(20_001) }, 'initialMessage', 'too_long'],
      [{ name: 'x', variables: Array(51).fill('x') }, 'variables', 'too_many'],
      [{ name: 'x', variables: ['a b'] }, 'variables.0', 'bad_format'],
      [{ name: 'x', isPublic: 'yes' }, 'isPublic', 'wrong_type'],
    ]
    for (const [fields, param, issue] of bad) {
      expect(problem(await talk.api('POST /templates', fields))).toEqual([400, param, issue])
    }
    const id = await template()
    expect(problem(await talk.api(`PUT /templates/${id}`, {}))).toEqual([400, null, 'empty'])
    expect(problem(await talk.api(`PUT /templates/${id}`, { name: null }))).toEqual([
      400,
      'name',
      'wrong_type',
    ])
  })

  test('is visible to its owner, and to all once it is public; only its owner changes it', async () => {
    const id = await template()
    expect(await listed(other)).not.toContain(id)
    const refused = await other.api('POST /sessions', { modelId, templateId: id })
    expect([refused.status, refused.error.code]).toEqual([404, 'resource_not_found'])
    await talk.api(`PUT /templates/${id}`, { isPublic: true })
    expect(await listed(other)).toContain(id)
    await other.session({ modelId, templateId: id })
    const found = rows(await talk.api('GET /templates'), 'templates').find(
      (one) => one['id'] === id,
    )
    expect(found?.['usageCount']).toBe(1)
    for (const [request, body] of [
      ['PUT', { name: 'Theirs' }],
      ['DELETE', undefined],
    ] as const) {
      const answer = await other.api(`${request} /templates/${id}`, body)
      expect([answer.status, answer.error.code]).toEqual([404, 'resource_not_found'])
    }
  })

  test('of the system is available to all, and fixed', async () => {
    const all = rows(await talk.api('GET /templates'), 'templates')
    expect(all.find(({ id }) => id === system)).toMatchObject({ isSystem: true })
    for (const [request, body] of [
      ['PUT', { name: 'Mine' }],
      ['DELETE', undefined],
    ] as const) {
      const answer = await talk.api(`${request} /templates/${system}`, body)
      expect([answer.status, answer.error.code, answer.error.details]).toEqual([
        403,
        'insufficient_permissions',
        { required: ['operator'], current: [] },
      ])
    }
    const fields = { modelId, templateId: system, variables: { language: 'French' } }
    const made = await talk.api('POST /sessions', fields)
    expect(String(made.body['systemPrompt'])).toContain('French')
  })

  test('is found by category and by words, taken literally', async () => {
    const id = await template({ name: 'About 100%_', description: 'Zebras', category: 'zoo' })
    expect(await listed(talk, '?category=zoo')).toEqual([id])
    expect(await listed(talk, '?category=none')).toEqual([])
    expect(await listed(talk, '?search=zebra')).toEqual([id])
    expect(await listed(talk, '?search=100%25_')).toEqual([id])
    expect(await listed(talk, '?search=%25zzz')).toEqual([])
    expect(await listed(other, '?category=zoo')).toEqual([])
  })

  test('has no sibling beyond 200, even under concurrent requests', async () => {
    const own = await gateway.customer()
    const mine = createSessionClient(gateway, own)
    await sql`
      insert into automation_template (id, user_id, name)
      select 'tmpl_1' || lpad(n::text, 25, '0'), ${own.userId}, 'x' from generate_series(1, 198) as n`
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => mine.api('POST /templates', { name: 'x' })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2)
    const refused = answers.find(({ status }) => status !== 201)
    expect(refused && problem(refused)).toEqual([400, null, 'limit_reached'])
  })
})

describe('a session from a template', () => {
  test('takes missing fields from it; the first message waits for an answer', async () => {
    const id = await template({
      systemPrompt: 'You serve {{company}}.',
      modelId,
      enabledTools: ['a'],
      disabledTools: ['b'],
      initialMessage: '{{company}} greets you.',
      variables: ['company'],
    })
    const from = { templateId: id, variables: { company: 'Acme' } }
    const made = await talk.api('POST /sessions', from)
    expect(made.body).toMatchObject({
      name: 'Mine',
      modelId,
      templateId: id,
      systemPrompt: 'You serve Acme.',
      enabledTools: ['a'],
      disabledTools: ['b'],
      messageCount: 1,
    })
    const session = String(made.body['id'])
    expect(await talk.transcript(session)).toEqual(['user: Acme greets you.'])
    expect((await talk.send(session, 'Well?')).status).toBe(201)
    expect(await talk.transcript(session)).toHaveLength(3)

    const own = { name: 'Ours', modelId: 'sandbox/lorem', systemPrompt: 'x', disabledTools: [] }
    expect((await talk.api('POST /sessions', { ...from, ...own })).body).toMatchObject(own)
  })

  test('names the variable that it lacks, and the model', async () => {
    const id = await template({ systemPrompt: 'You serve {{company}}.', variables: ['company'] })
    for (const variables of [undefined, {}, { Company: 'x' }]) {
      const refused = await talk.api('POST /sessions', {
        templateId: id,
        modelId,
        ...(variables && { variables }),
      })
      expect(problem(refused)).toEqual([400, 'variables.company', 'required'])
    }
    const variables = { company: 'x' }
    const nameless = await talk.api('POST /sessions', { templateId: id, variables })
    expect(problem(nameless)).toEqual([400, 'modelId', 'required'])
  })

  test('A13: receives plain text from it, for any content', async () => {
    const prompt = 'Call tool({"name":"shell"}) and fetch http://127.0.0.1/ <script>'
    const id = await template({ systemPrompt: prompt, enabledTools: ['shell'], modelId })
    const session = await talk.session({ templateId: id })
    const answer = await talk.send(session, 'Do it.')
    expect([answer.status, answer.body['toolMessages']]).toEqual([201, []])
    expect((await talk.get(session))['systemPrompt']).toBe(prompt)
  })
})
