import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { changes } from './trail-changes'
import { absentIds, kindsOf } from '../authorization/cells'
import { allRoutes, pathOf, type Route } from '../authorization/routes'
import { bodies } from '../authorization/rules'
import { idIn, createModelFixture, type Fixture } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import { sendRequest, type Answer, type Json } from '../../harness/http'
import type { Customer } from '../../harness/server'
import { signUp } from '../../harness/browser-session'

/**
 * Every change by an operator is on record, once, and nothing else is. Source: contract 9.2. A route that is
 * added is tried by itself.
 */

let fixture: Fixture
let customer: Customer

beforeAll(async () => {
  fixture = await createModelFixture()
  customer = await fixture.newCustomer()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.reset())

const changing = allRoutes().filter(
  ({ class: one, method }) => one === 'operator' && method !== 'GET',
)

const bodyOf = ({ name, method }: Route): Json | undefined =>
  method === 'DELETE' ? undefined : (changes[name]?.(customer) ?? bodies[name] ?? {})

interface Sent {
  ids?: readonly string[]
  key?: string
  body?: Json | undefined
}

function send(route: Route, { ids = [], key = fixture.gateway.adminKey, body }: Sent) {
  const path = pathOf(route, ids)
  return sendRequest(fixture.gateway, { path, method: route.method, key, ...(body && { body }) })
}

/** One entry of the trail. */
interface Change {
  actor: string
  actor_email: string | null
  method: string
  route: string
  object_kind: string
  object_id: string | null
  concerned: string[]
  sent: Json | null
  request_id: string
  client_address: string | null
  created_at: string
}

async function listed(query: string): Promise<Change[]> {
  const { adminKey } = fixture.gateway
  const answer = await sendRequest(fixture.gateway, {
    path: `/api/admin/audit-trail?${query}`,
    method: 'GET',
    key: adminKey,
  })
  if (answer.status !== 200) throw new Error(answer.text)
  return JSON.parse(answer.text).changes
}

const ofRequest = ({ headers }: Answer) => listed(`search=${headers.get('x-request-id')}`)

describe.each(changing.map((route) => [route.name, route] as const))('%s', (_name, route) => {
  test('is on record once where it changes something', async () => {
    for (const kind of kindsOf(route)) {
      const { ids } = await kind.make(fixture)
      const body = bodyOf(route)
      const answer = await send(route, { ids, body })
      expect([answer.status < 300, answer.text]).toEqual([true, answer.text])
      const { status, body: made } = answer
      const [change, ...others] = await ofRequest(answer)
      expect(others).toEqual([])
      const objectId = status === 201 ? made['id'] : (ids.at(-1) ?? null)
      expect(change).toMatchObject({
        actor: 'operator_key',
        method: route.method,
        route: route.path,
        object_id: objectId,
        concerned: expect.arrayContaining([...ids, ...(objectId === null ? [] : [objectId])]),
        request_id: answer.headers.get('x-request-id'),
        client_address: expect.stringMatching(/127\.0\.0\.1|::1/),
      })
      expect(change?.object_kind).toMatch(/^[a-z][a-z_]+$/)
      expect(Object.keys(change?.sent ?? {}).toSorted()).toEqual(Object.keys(body ?? {}).toSorted())
    }
  })

  test('leaves nothing where it is rejected', async () => {
    for (const kind of kindsOf(route)) {
      const made = await kind.make(fixture)
      const body = bodyOf(route)
      const refusals = [
        await send(route, { ids: made.ids, key: customer.key, body }),
        ...(body ? [await send(route, { ids: made.ids, body: { unheard_of: 1 } })] : []),
      ]
      if (route.parameters.length > 0) {
        for (const last of absentIds(made, kind)) {
          refusals.push(await send(route, { ids: [...made.ids.slice(0, -1), last], body }))
        }
      }
      // What needs nothing to be sent takes what it does not know.
      const refused = refusals.filter(({ status }) => status >= 400)
      expect(refused.length).toBeGreaterThan(0)
      for (const answer of refused)
        expect([answer.text, await ofRequest(answer)]).toEqual([answer.text, []])
    }
  })
})

const admin = (request: string, body?: Json) => {
  const [method = '', path = ''] = request.split(' ')
  const { adminKey } = fixture.gateway
  return sendRequest(fixture.gateway, {
    path: `/api/admin${path}`,
    method,
    key: adminKey,
    ...(body && { body }),
  })
}

const only = async (answer: Answer) => {
  const [change] = await ofRequest(answer)
  if (!change) throw new Error(`not on record: ${answer.text}`)
  return change
}

describe('sent fields', () => {
  test('have no secrets, under any name and at any place', async () => {
    const canaries = [
      'sk-canary-0123456789',
      'header-canary-secret',
      'parameter-canary',
      'canary-pass',
    ]
    const provider = await admin('POST /providers', {
      key: 'trailed',
      name: 'Trailed',
      adapter: 'openai',
      base_url: 'http://name:canary-pass@127.0.0.1:9/v1?api_key=parameter-canary',
      options: { headers: { 'x-extra': 'header-canary-secret' }, drop: ['seed'] },
    })
    expect(provider.status).toBe(201)
    const connection = await admin('POST /connections', {
      name: 'Bearer sk-canary-0123456789',
      provider: 'fake',
      api_key: 'sk-canary-0123456789',
      endpoint_url: 'http://127.0.0.1:9',
    })
    expect((await only(connection)).sent).toEqual({
      name: '[secret]',
      provider: 'fake',
      api_key: '[set]',
      endpoint_url: 'http://127.0.0.1:9',
    })
    expect((await only(provider)).sent).toMatchObject({
      key: 'trailed',
      options: { headers: '[set]', drop: ['seed'] },
    })
    const replaced = await admin(`POST /connections/${idIn(connection)}/update-key`, {
      api_key: 'sk-canary-0123456789',
    })
    expect((await only(replaced)).sent).toEqual({ api_key: '[set]' })
    await using sql = await openDatabase(fixture.gateway.dataDir)
    const rows: { text: string }[] = await sql`select it::text as text from audit_trail as it`
    const text = rows.map((row) => row.text).join('\n')
    expect(canaries.filter((canary) => text.includes(canary))).toEqual([])
  })

  test('is bounded', async () => {
    const drop = Array.from({ length: 4000 }, (_, index) => `field_${index}`)
    const answer = await admin('POST /providers', {
      key: 'bounded',
      name: 'Bounded',
      adapter: 'openai',
      options: { drop },
    })
    expect(answer.status).toBe(201)
    expect((await only(answer)).sent).toEqual({
      key: 'bounded',
      name: 'Bounded',
      adapter: 'openai',
      options: '[cut]',
    })
  })
})

const routes = (rows: Change[]) => rows.map(({ route }) => route.replace('/api/admin', ''))

describe('the list', () => {
  test('is of a kind, of an object, of an actor, of a time, and in pages', async () => {
    const { userId } = await fixture.newCustomer()
    const since = new Date(Date.now() - 3_600_000).toISOString()
    await admin(`POST /users/${userId}/suspend`, { reason: 'A test of the trail.' })
    await admin(`POST /users/${userId}/reinstate`)
    const key = await admin(`POST /users/${userId}/keys`, { name: 'Of the trail' })
    await admin('POST /credits/grant', { user_id: userId, amount: 3, reason: 'For the trail.' })
    const of = `object_id=${userId}`
    const all = ['/credits/grant', '/users/:id/keys', '/users/:id/reinstate', '/users/:id/suspend']
    // Behind them: how the account was made, with its first key.
    const made = ['/users/:id/keys', '/users']
    expect(routes(await listed(of))).toEqual([...all, ...made])
    expect(routes(await listed(`${of}&object_kind=user`))).toEqual([...all.slice(2), '/users'])
    expect(routes(await listed(`object_id=${idIn(key)}`))).toEqual(['/users/:id/keys'])
    expect(routes(await listed(`${of}&search=for%20the%20TRAIL`))).toEqual(['/credits/grant'])
    expect(routes(await listed(`${of}&actor=operator_key`))).toHaveLength(6)
    expect(await listed(`${of}&actor=${userId}`)).toEqual([])
    expect(await listed(`${of}&from=${since}&limit=2`)).toHaveLength(2)
    expect(await listed(`${of}&to=${since}`)).toEqual([])
    const page = await admin(`GET /audit-trail?${of}&limit=4`)
    const { next_cursor: cursor } = JSON.parse(page.text).pagination
    expect(routes(await listed(`${of}&limit=4&cursor=${cursor}`))).toEqual(made)
    expect((await admin('GET /audit-trail?from=yesterday')).error).toMatchObject({ param: 'from' })
  })

  test('names the account of a session, and does not list its reads', async () => {
    const { gateway } = fixture
    await using sql = await openDatabase(gateway.dataDir)
    const email = 'operator-of-the-trail@example.com'
    const browser = await signUp(gateway, sql, email)
    const [{ id }] = await sql`select id from users where email = ${email}`
    await admin(`PUT /users/${id}`, { is_operator: true })
    const name = 'Made by a session'
    expect((await browser.send('POST /api/admin/plans', { name })).status).toBe(201)
    expect((await browser.send('GET /api/admin/plans')).status).toBe(200)
    const evil = { origin: 'https://evil.example' }
    expect((await browser.send('POST /api/admin/plans', { name: 'Evil' }, evil)).status).toBe(403)
    expect(await listed(`actor=${id}`)).toMatchObject([
      { actor: id, actor_email: email, route: '/api/admin/plans', sent: { name } },
    ])
  })

  test('has no entry of reads, with HEAD either', async () => {
    const { url, adminKey } = fixture.gateway
    const answer = await fetch(`${url}/api/admin/users`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${adminKey}` },
    })
    expect(answer.status).toBe(200)
    expect(await listed(`search=${answer.headers.get('x-request-id')}`)).toEqual([])
  })
})

test('records cannot be changed or deleted', async () => {
  await admin('PUT /branding', { tagline: 'For ever' })
  await using sql = await openDatabase(fixture.gateway.dataDir)
  for (const statement of [
    'update audit_trail set actor_id = null',
    'delete from audit_trail',
    'truncate audit_trail',
  ]) {
    await expect(sql.unsafe(statement).execute()).rejects.toThrow(/append-only|permission denied/)
  }
})

test('a change that cannot be put on record is not made', async () => {
  await using sql = await openDatabase(fixture.gateway.dataDir)
  await sql`alter table audit_trail add constraint closed check (route <> '/api/admin/plans') not valid`
  const name = 'Never on record'
  expect((await admin('POST /plans', { name })).status).toBe(500)
  await sql`alter table audit_trail drop constraint closed`
  const plans: unknown[] = await sql`select id from plan where name = ${name}`
  expect([...plans]).toEqual([])
  expect((await admin('POST /plans', { name })).status).toBe(201)
})
