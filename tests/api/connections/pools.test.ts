import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { call, idIn, createModelFixture, problem, type Fixture } from '../../harness/byok'
import { sendRequest, messages, type Json } from '../../harness/http'
import type { Customer } from '../../harness/server'

/** Connections that take turns, and those that are full. */

let fixture: Fixture
let customer: Customer
let stranger: Customer

beforeAll(async () => {
  fixture = await createModelFixture()
  customer = await fixture.newCustomer()
  stranger = await fixture.newCustomer()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.reset())

const api = (request: string, body?: Json, by = customer) =>
  call(fixture.gateway, by, request, body)

const made = async (more: Json, by: Customer) => {
  const fields = { name: 'one', provider: 'fake', api_key: 'sk-fake-0123456789' }
  const own = { ...fields, endpoint_url: fixture.upstream.url, ...more }
  return idIn(await api('POST /connections', own, by))
}

const chat = (model: string, by: Customer) =>
  sendRequest(fixture.gateway, { key: by.key, body: { model, messages } })

const keyed = (by: Customer) => ['a', 'b', 'c'].map((key) => made({ api_key: `sk-${key}` }, by))
const usedKeys = () =>
  fixture.upstream.requests.map(({ headers }) => headers.get('authorization')?.at(-1))
const pool = (connection_ids: string[], more: Json = {}) => ({
  name: 'p',
  provider: 'fake',
  connection_ids,
  ...more,
})

test('a pool stands in place of its members, and is changed as a whole', async () => {
  const by = await fixture.newCustomer()
  const ids = await Promise.all(keyed(by))
  const answer = await api('POST /connection-pools', pool(ids), by)
  const path = `/connection-pools/${idIn(answer)}`
  expect(answer.body).toMatchObject({
    strategy: 'round_robin',
    scope: 'individual',
    organization_id: null,
    billing_mode: null,
    connection_ids: ids,
    enabled: true,
  })
  for (let k = 0; k < 6; k++) await chat('fake/one', by)
  expect(new Set(usedKeys().slice(0, 3))).toEqual(new Set(['a', 'b', 'c']))
  expect(usedKeys().slice(3)).toEqual(usedKeys().slice(0, 3))
  const [a = '', b = ''] = ids
  const changed = await api(`PUT ${path}`, { strategy: 'priority', connection_ids: [b, a] }, by)
  expect(changed.body).toMatchObject({ connection_ids: [b, a], strategy: 'priority' })
  await api(`PUT /connections/${b}`, { priority: 1, is_default: true }, by)
  fixture.upstream.requests.length = 0
  for (let k = 0; k < 3; k++) await chat('fake/one', by)
  expect(usedKeys()).toEqual(['b', 'b', 'b'])
  await api(`DELETE /connections/${b}`, undefined, by)
  expect((await api(`GET ${path}`, undefined, by)).body).toMatchObject({ connection_ids: [a] })
  expect((await api(`GET ${path}`, undefined, stranger)).status).toBe(404)
  expect((await api(`PUT ${path}`, { name: 'x' }, stranger)).status).toBe(404)
  expect((await api(`DELETE ${path}`, undefined, stranger)).status).toBe(404)
  expect((await api(`DELETE ${path}`, undefined, by)).body).toMatchObject({ success: true })
  expect((await api('GET /connection-pools', undefined, by)).body).toMatchObject({ pools: [] })
})

test.each<[Json, string, string]>([
  [{ name: undefined }, 'name', 'required'],
  [{ provider: 'nobody' }, 'provider', 'unknown_value'],
  [{ connection_ids: [] }, 'connection_ids', 'empty'],
  [{ connection_ids: ['conn_x', 'conn_x'] }, 'connection_ids.1', 'duplicate'],
  [{ connection_ids: ['conn_x'] }, 'connection_ids.0', 'unknown_value'],
  [{ strategy: 'best' }, 'strategy', 'unknown_value'],
  [{ billing_mode: 'org_pays' }, 'billing_mode', 'not_allowed'],
  [{ scope: 'organization' }, 'organization_id', 'required'],
])('a pool %j is rejected at %s: %s', async (more, param, issue) => {
  const answer = await api('POST /connection-pools', pool(['conn_x'], more))
  expect(problem(answer)).toEqual([400, param, issue])
})

test('a full connection is passed over; where all are full, it is 429', async () => {
  const by = await fixture.newCustomer()
  await made({ api_key: 'sk-a', rate_limits: { rpm: 1 } }, by)
  await made({ api_key: 'sk-b', rate_limits: { rpm: 1 } }, by)
  for (let k = 0; k < 2; k++) expect((await chat('fake/one', by)).status).toBe(200)
  expect(usedKeys()).toEqual(['a', 'b'])
  const { status, error, headers } = await chat('fake/one', by)
  expect([status, error.code, error.details?.['limit']]).toEqual([429, 'rate_limit_exceeded', 1])
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  expect(usedKeys()).toEqual(['a', 'b'])
})

test('tokens are reserved at a connection, and made good after its answer', async () => {
  const by = await fixture.newCustomer()
  await made({ rate_limits: { tpm: 2000 } }, by)
  const one = { model: 'fake/one', messages, max_tokens: 1500 }
  for (let k = 0; k < 5; k++) {
    expect((await sendRequest(fixture.gateway, { key: by.key, body: one })).status).toBe(200)
  }
  const large = await sendRequest(fixture.gateway, {
    key: by.key,
    body: { ...one, max_tokens: 3000 },
  })
  expect([large.status, large.error.code]).toEqual([429, 'rate_limit_exceeded'])
})

test('members that are deleted while a pool is given others do not hold it up', async () => {
  for (let round = 0; round < 30; round++) {
    const by = await fixture.newCustomer()
    const ids = await Promise.all(keyed(by))
    const fields = { name: 'all', provider: 'fake', connection_ids: ids }
    const path = `/connection-pools/${idIn(await api('POST /connection-pools', fields, by))}`
    const answers = await Promise.all([
      api(`PUT ${path}`, { connection_ids: ids.toReversed() }, by),
      ...ids.map((id) => api(`DELETE /connections/${id}`, undefined, by)),
      api(`PUT ${path}`, { connection_ids: ids }, by),
    ])
    expect(answers.filter(({ status }) => ![200, 400].includes(status))).toEqual([])
  }
})

/** A conversation that goes on. */
const history = (text: string) => [
  { role: 'user', content: text },
  { role: 'assistant', content: 'Hello.' },
  { role: 'user', content: 'And?' },
]

test('a conversation stays on its connection, unless that is full', async () => {
  const by = await fixture.newCustomer()
  const ids = await Promise.all(keyed(by))
  const [a = ''] = ids
  await api('POST /connection-pools', pool(ids), by)
  const say = (content: Json[]) =>
    sendRequest(fixture.gateway, { key: by.key, body: { model: 'fake/one', messages: content } })
  const begun = await Promise.all(
    ['one', 'two', 'three'].map((text) => say(history(text).slice(0, 1))),
  )
  expect(begun.map(({ status }) => status)).toEqual([200, 200, 200])
  const byText = new Map(
    fixture.upstream.requests.map(({ body, headers }) => [
      JSON.stringify(body['messages']),
      headers.get('authorization')?.at(-1),
    ]),
  )
  expect(new Set(byText.values())).toEqual(new Set(['a', 'b', 'c']))
  for (const text of ['one', 'two', 'three', 'three', 'two', 'one']) {
    fixture.upstream.requests.length = 0
    await say(history(text))
    expect(usedKeys()).toEqual([byText.get(JSON.stringify(history(text).slice(0, 1)))])
  }
  await api(`PUT /connections/${a}`, { rate_limits: { rpm: 1 } }, by)
  const ofA = ['one', 'two', 'three'].find(
    (text) => byText.get(JSON.stringify(history(text).slice(0, 1))) === 'a',
  )
  fixture.upstream.requests.length = 0
  await say(history(String(ofA)))
  await say(history(String(ofA)))
  expect(usedKeys()).toEqual(['a', expect.stringMatching(/[bc]/)])
})
