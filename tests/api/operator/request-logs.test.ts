import { afterAll, beforeAll, expect, test } from 'bun:test'
import { signUp } from '../../harness/browser-session'
import { openDatabase } from '../../harness/database'
import { sendRequest, messages, type Answer, type Json } from '../../harness/http'
import { startRig, type Customer, type Rig } from '../../harness/server'
import { eventually, eventuallyReads } from '../../../server/testing/eventually'

let rig: Rig
let one: Customer
let other: Customer
/** The ids of a request of each. */
let failed: string
let served: string

beforeAll(async () => {
  rig = await startRig()
  const { gateway } = rig
  await gateway.admin('PUT', '/config', { log_bodies: true })
  one = await gateway.customer()
  other = await gateway.customer()
  failed = await send(one, 'no/such')
  served = await send(other, 'sandbox/echo')
  // A list waits a second at most for logs that are being written.
  await eventually(async () => (await listed('')).length === 2)
})
afterAll(() => rig[Symbol.asyncDispose]())

async function send({ key }: Customer, model: string): Promise<string> {
  const answer = await sendRequest(rig.gateway, { key, body: { model, messages } })
  return answer.headers.get('x-request-id') ?? ''
}

const read = (rest: string, key = rig.gateway.adminKey): Promise<Answer> =>
  sendRequest(rig.gateway, { path: `/api/admin/request-logs${rest}`, method: 'GET', key })

const listed = async (query: string): Promise<Json[]> => {
  const { status, body, text } = await read(query)
  if (status !== 200) throw new Error(text)
  return Object(body['logs'])
}

const changesOf = async (id: string): Promise<Json[]> =>
  Object((await rig.gateway.admin('GET', `/audit-trail?object_id=${id}`))['changes']).filter(
    ({ route }: Json) => route === '/api/admin/request-logs/:id',
  )

test('operators list the requests of all accounts, with the account of each', async () => {
  const logs = await listed('')
  expect(logs.map(({ id }) => id)).toEqual([served, failed])
  expect(logs.map(({ user_id }) => user_id)).toEqual([other.userId, one.userId])
  const { email } = await rig.gateway.admin('GET', `/users/${one.userId}`)
  expect(logs[1]).toMatchObject({ email, error: { code: 'model_not_found' } })
})

const ids = async (query: string) => (await listed(query)).map(({ id }) => id)

test('they find them by account, id, part of an id, text of an error and the filters of accounts', async () => {
  expect(await ids(`?user_id=${one.userId}`)).toEqual([failed])
  expect(await ids(`?search=${served}`)).toEqual([served])
  expect(await ids(`?search=${failed.slice(0, 8)}`)).toEqual([served, failed])
  expect(await ids('?search=model_not')).toEqual([failed])
  expect(await ids('?status=success')).toEqual([served])
  expect(await ids(`?user_id=${one.userId}&search=${served}`)).toEqual([])
  expect(await ids('?user_id=user_00000000000000000000000000')).toEqual([])
})

test('a list without an account covers 7 days at most', async () => {
  const start = new Date(Date.now() - 20 * 86_400_000).toISOString()
  const { status, error } = await read(`?start_date=${start}`)
  expect([status, error.param]).toEqual([400, 'start_date'])
  expect((await read(`?start_date=${start}&user_id=${one.userId}`)).status).toBe(200)
})

test('the view of a request has its attempts, and neither prompt nor answer', async () => {
  await using sql = await openDatabase(rig.gateway.dataDir)
  await sql`update users set log_bodies = true where id = ${other.userId}`
  // The node hears of the account's setting a little later.
  const sent: string[] = []
  const id = await eventuallyReads(
    async () => {
      sent.push(await send(other, 'sandbox/echo'))
      const [body] = await sql`select id from request_body where id in ${sql(sent)} limit 1`
      return String(body?.id ?? '')
    },
    (stored) => stored !== '',
  )
  const { status, body, text } = await read(`/${id}`)
  expect(status).toBe(200)
  expect(body).toMatchObject({ id, user_id: other.userId, status: 'success' })
  expect(Object(body['resolution_attempts']).attempts).toHaveLength(1)
  expect(Object.keys(body)).not.toContain('request_body')
  expect(text).not.toContain(String(messages[0]?.content))
})

test('each view of a request is in the audit log, by the account too; a list and an unknown id are not', async () => {
  expect(await changesOf(failed)).toEqual([])
  const answer = await read(`/${failed}`)
  await read(`?search=${failed}`)
  await read('/req_00000000000000000000000000')
  const recorded = [
    expect.objectContaining({
      actor: 'operator_key',
      method: 'GET',
      object_kind: 'request',
      object_id: failed,
      concerned: [failed, one.userId],
      request_id: answer.headers.get('x-request-id'),
    }),
  ]
  expect(await changesOf(failed)).toEqual(recorded)
  expect(await changesOf(one.userId)).toEqual(recorded)
  expect(await changesOf('req_00000000000000000000000000')).toEqual([])
})

test('for customers, with a key or a session, the endpoints do not exist', async () => {
  await using sql = await openDatabase(rig.gateway.dataDir)
  const session = await signUp(rig.gateway, sql, 'customer@example.com')
  for (const path of ['', `/${failed}`]) {
    expect((await read(path, one.key)).status).toBe(404)
    const { status } = await session.send(`GET /api/admin/request-logs${path}`)
    expect(status).toBe(404)
  }
  expect(await changesOf(failed)).toHaveLength(1)
})

test('a view of a request whose log is still being written is recorded with the account', async () => {
  for (let round = 0; round < 5; round++) {
    const id = await send(one, 'sandbox/echo')
    expect((await read(`/${id}`)).status).toBe(200)
    const [view] = await changesOf(id)
    expect(view?.['concerned']).toEqual([id, one.userId])
  }
})
