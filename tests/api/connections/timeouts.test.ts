import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import {
  call,
  completion,
  createModelFixture,
  idIn,
  problem,
  type Fixture,
} from '../../harness/byok'
import { messages, sendRequest, type Json } from '../../harness/http'
import { newOrganization } from '../../harness/organization'
import type { Customer } from '../../harness/server'
import { createHold } from '../../../server/testing/hold'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createModelFixture({ IDLE_TIMEOUT_SECONDS: '120' })
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.reset())

const api = (by: Customer, request: string, body?: Json) => call(fixture.gateway, by, request, body)

const fields = (more: Json = {}): Json => ({
  name: 'Mine',
  provider: 'fake',
  api_key: 'sk-fake-0123456789',
  endpoint_url: fixture.upstream.url,
  ...more,
})

const none = {
  request_seconds: null,
  first_byte_seconds: null,
  idle_seconds: null,
  stream_seconds: null,
}

test('a request ends as the timeout of its own connection says, long before the installation’s', async () => {
  const owner = await fixture.newCustomer()
  idIn(await api(owner, 'POST /connections', fields({ timeouts: { request_seconds: 1 } })))
  const pause = createHold()
  fixture.upstream.answer = async () => {
    await pause.hold()
    return completion()
  }
  const answer = await sendRequest(fixture.gateway, {
    key: owner.key,
    body: { model: 'fake/one', messages },
  })
  pause.release()
  expect([answer.status, answer.error.code]).toEqual([504, 'request_timeout'])
})

test('timeouts of a connection are shown, replaced as a whole, and removed', async () => {
  const owner = await fixture.newCustomer()
  const timeouts = { request_seconds: 30, idle_seconds: 120 }
  const created = await api(owner, 'POST /connections', fields({ timeouts }))
  const at = `/connections/${idIn(created)}`
  expect(created.body['timeouts']).toEqual({ ...none, ...timeouts })
  await api(owner, `PUT ${at}`, { name: 'Renamed' })
  expect((await api(owner, `GET ${at}`)).body['timeouts']).toEqual({ ...none, ...timeouts })
  await api(owner, `PUT ${at}`, { timeouts: { stream_seconds: 60, idle_seconds: null } })
  expect((await api(owner, `GET ${at}`)).body['timeouts']).toEqual({ ...none, stream_seconds: 60 })
  await api(owner, `PUT ${at}`, { timeouts: null })
  expect((await api(owner, `GET ${at}`)).body['timeouts']).toBeNull()
})

test.each<[Json, string, string]>([
  [{ idle_seconds: 121 }, 'timeouts.idle_seconds', 'out_of_range'],
  [{ stream_seconds: 1801 }, 'timeouts.stream_seconds', 'out_of_range'],
  [{ first_byte_seconds: 0 }, 'timeouts.first_byte_seconds', 'out_of_range'],
  [{ request_seconds: '5' }, 'timeouts.request_seconds', 'wrong_type'],
])('timeouts %j are rejected at %s: %s', async (timeouts, param, issue) => {
  const owner = await fixture.newCustomer()
  expect(problem(await api(owner, 'POST /connections', fields({ timeouts })))).toEqual([
    400,
    param,
    issue,
  ])
  const at = `/connections/${idIn(await api(owner, 'POST /connections', fields()))}`
  expect(problem(await api(owner, `PUT ${at}`, { timeouts }))).toEqual([400, param, issue])
})

test('timeouts of an organization’s connection are set by its managers, bounded, and hidden from others', async () => {
  const ours = await newOrganization(fixture)
  const developer = await ours.member('developer')
  const stranger = await fixture.newCustomer()
  const at = `/connections/${idIn(await ours.connection({ timeouts: { idle_seconds: 60 } }))}`
  const change = { timeouts: { idle_seconds: 30 } }
  expect((await api(developer, `PUT ${at}`, change)).status).toBe(403)
  expect((await api(stranger, `PUT ${at}`, change)).status).toBe(404)
  expect(problem(await api(ours.owner, `PUT ${at}`, { timeouts: { idle_seconds: 500 } }))).toEqual([
    400,
    'timeouts.idle_seconds',
    'out_of_range',
  ])
  expect((await api(developer, `GET ${at}`)).body['timeouts']).toBeNull()
  expect((await api(ours.owner, `GET ${at}`)).body['timeouts']).toEqual({
    ...none,
    idle_seconds: 60,
  })
  await api(ours.owner, `PUT ${at}`, change)
  const trail = await api(ours.owner, `GET ${ours.path}/audit-trail?action=connection.changed`)
  expect(trail.text).toContain('"idle_seconds":30')
})
