import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { listIn } from './fixture'
import {
  allowLoopback,
  call,
  createModelFixture,
  idIn,
  problem,
  type Fixture,
  type ProviderRequest,
} from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import { messages, sendRequest, type Json } from '../../harness/http'
import { newOrganization } from '../../harness/organization'
import type { Customer } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'

let fixture: Fixture
let sql: SQL & AsyncDisposable

beforeAll(async () => {
  fixture = await createModelFixture({ ALERT_SECONDS: '0.2' })
  sql = await openDatabase(fixture.gateway.dataDir)
})
afterAll(async () => {
  await sql.close()
  await fixture[Symbol.asyncDispose]()
})
afterEach(() => fixture.reset())

const path = '/account/notification-destinations'
const api = (by: Customer, request: string, body?: Json) => call(fixture.gateway, by, request, body)

const fields = (more: Json = {}): Json => ({
  name: 'Operations',
  kind: 'webhook',
  url: `${fixture.upstream.url}/hook/that-grants-access?sig=also-secret`,
  ...more,
})

async function createDestination(owner: Customer, more: Json = {}) {
  const answer = await api(owner, `POST ${path}`, fields(more))
  const id = idIn(answer)
  return { id, at: `${path}/${id}`, secret: String(answer.body['secret']), answer }
}

/** Answers deliveries with these statuses, one after another; the last one is repeated. */
function answerWith(...statuses: number[]) {
  fixture.upstream.answer = ({ path: called }) =>
    called.startsWith('/hook')
      ? new Response('heard', {
          status: (statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 200,
        })
      : Response.json({ error: { message: 'broken' } }, { status: 400 })
}

const received = () =>
  fixture.upstream.requests.filter(({ path: called }) => called.startsWith('/hook'))

const deliveriesOf = async (owner: Customer, at: string) =>
  listIn(await api(owner, `GET ${at}/deliveries`), 'deliveries')

/** Verifies a delivery as the specification of Standard Webhooks has it, without the code that signs. */
async function verify({ headers, text }: ProviderRequest, secret: string): Promise<boolean> {
  const bytes = Uint8Array.from(atob(secret.replace('whsec_', '')), (mark) => mark.charCodeAt(0))
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes, hmac, false, ['verify'])
  const timestamp = headers.get('webhook-timestamp') ?? ''
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false
  const content = new TextEncoder().encode(`${headers.get('webhook-id')}.${timestamp}.${text}`)
  const verdicts = (headers.get('webhook-signature') ?? '').split(' ').map((signature) => {
    const mac = Uint8Array.from(atob(signature.replace('v1,', '')), (mark) => mark.charCodeAt(0))
    return crypto.subtle.verify('HMAC', key, mac, content)
  })
  return (await Promise.all(verdicts)).includes(true)
}

/** Causes an event: an organization invites the account. */
async function invite({ userId }: Customer): Promise<void> {
  const { email } = await fixture.gateway.admin('GET', `/users/${userId}`)
  const { owner, path: organization } = await newOrganization(fixture)
  idIn(await api(owner, `POST ${organization}/members/invite`, { email: String(email) }))
}

test('an alert that triggers is delivered once, with a signature that the secret verifies', async () => {
  const owner = await fixture.newCustomer()
  const { at, secret } = await createDestination(owner, { events: ['alert.triggered'] })
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  answerWith(200)
  const alert = { name: 'Failures', type: 'error_rate', threshold: 0, min_requests: 1 }
  const alertId = idIn(
    await api(owner, 'POST /account/alerts', { ...alert, notification_channels: [] }),
  )
  idIn(
    await api(owner, 'POST /connections', {
      name: 'one',
      provider: 'fake',
      api_key: 'sk-fake-0123456789',
      endpoint_url: fixture.upstream.url,
    }),
  )
  await sendRequest(fixture.gateway, { key: owner.key, body: { model: 'fake/one', messages } })
  await eventually(async () => (await deliveriesOf(owner, at))[0]?.['status'] === 'delivered')
  const [delivered, ...others] = received()
  if (!delivered) throw new Error('nothing was received')
  expect(others).toEqual([])
  expect(await verify(delivered, secret)).toBe(true)
  expect(await verify({ ...delivered, text: `${delivered.text} ` }, secret)).toBe(false)
  expect(delivered.body).toEqual({
    type: 'alert.triggered',
    timestamp: expect.stringMatching(/Z$/),
    data: {
      title: 'Alert: Failures',
      body: expect.stringContaining('was triggered'),
      alert_id: alertId,
      trigger_id: expect.stringMatching(/^trg_/),
      alert_type: 'error_rate',
      threshold: 0,
      period: 'day',
      value: 100,
      link: `/alerts/${alertId}`,
    },
  })
  expect(await deliveriesOf(owner, at)).toEqual([
    {
      id: delivered.headers.get('webhook-id'),
      event: 'alert.triggered',
      status: 'delivered',
      attempts: 1,
      response_status: 200,
      response_text: 'heard',
      error: null,
      next_attempt_at: null,
      last_attempt_at: expect.stringMatching(/Z$/),
      created_at: expect.stringMatching(/Z$/),
    },
  ])
})

test('a delivery that fails is retried under its id until it succeeds, and can be sent again', async () => {
  const owner = await fixture.newCustomer()
  const { at } = await createDestination(owner)
  answerWith(503, 302, 204)
  await invite(owner)
  // An attempt counts as it begins, and has a status as it ends.
  const isAnswered = async (attempts: number, status: number) => {
    const [delivery] = await deliveriesOf(owner, at)
    return delivery?.['attempts'] === attempts && delivery['response_status'] === status
  }
  await eventually(async () => await isAnswered(1, 503))
  expect((await deliveriesOf(owner, at))[0]).toMatchObject({
    status: 'waiting',
    error: 'The answer was 503.',
    next_attempt_at: expect.stringMatching(/Z$/),
  })
  expect((await api(owner, `GET ${at}`)).body['failing_since']).toMatch(/Z$/)
  await eventually(async () => await isAnswered(2, 302))
  // The pause after the second attempt is of five minutes.
  const [waiting] = await deliveriesOf(owner, at)
  const resend = `POST ${at}/deliveries/${String(waiting?.['id'])}/resend`
  expect((await api(owner, resend)).body).toMatchObject({ status: 'waiting', attempts: 0 })
  await eventually(async () => await isAnswered(1, 204))
  expect((await deliveriesOf(owner, at))[0]).toMatchObject({ status: 'delivered' })
  expect((await api(owner, `GET ${at}`)).body['failing_since']).toBeNull()
  const id = String(waiting?.['id'])
  expect(received().map(({ headers }) => headers.get('webhook-id'))).toEqual([id, id, id])
  await api(owner, `PUT ${at}`, { enabled: false })
  expect(problem(await api(owner, resend))).toEqual([400, null, 'wrong_state'])
})

test('a test is sent at once and not retried, to a disabled destination too', async () => {
  const owner = await fixture.newCustomer()
  const { at, secret } = await createDestination(owner, { enabled: false })
  answerWith(500)
  const tested = await api(owner, `POST ${at}/test`)
  expect([tested.status, tested.body]).toMatchObject([
    200,
    { event: 'test', status: 'failed', attempts: 1, response_status: 500 },
  ])
  const [first] = received()
  expect(first && (await verify(first, secret))).toBe(true)
  answerWith(204)
  expect((await api(owner, `POST ${at}/test`)).body).toMatchObject({ status: 'delivered' })
  await invite(owner)
  expect(await deliveriesOf(owner, at)).toHaveLength(2)
})

test('after a rotation both secrets verify, the new one shown once', async () => {
  const owner = await fixture.newCustomer()
  const { at, secret } = await createDestination(owner)
  const rotated = await api(owner, `POST ${at}/rotate-secret`)
  answerWith(204)
  await api(owner, `POST ${at}/test`)
  const [tested] = received()
  if (!tested) throw new Error('nothing was received')
  expect(rotated.body['secret']).not.toBe(secret)
  expect(await verify(tested, secret)).toBe(true)
  expect(await verify(tested, String(rotated.body['secret']))).toBe(true)
})

test('secrets are in no later answer, no row and no log', async () => {
  const owner = await fixture.newCustomer()
  const { id, at, secret, answer } = await createDestination(owner)
  const routing = { kind: 'pagerduty', routing_key: 'R0THATPAGESSOMEBODY0123456789012' }
  const other = await createDestination(owner, routing)
  answerWith(202)
  await api(owner, `POST ${at}/test`)
  await api(owner, `POST ${other.at}/test`)
  expect(received()[1]?.body).toMatchObject({ routing_key: routing.routing_key })
  const changed = await api(owner, `PUT ${at}`, { name: 'Renamed' })
  const answers = [
    await api(owner, `GET ${path}`),
    await api(owner, `GET ${at}`),
    await api(owner, `GET ${at}/deliveries`),
    await api(owner, `GET ${other.at}/deliveries`),
    changed,
    other.answer,
  ]
  const rows = await sql`
    select destination::text || encode(secret, 'escape') || delivery::text as row
    from notification_destination as destination
    join notification_delivery as delivery on delivery.destination_id = destination.id
    where destination.user_id = ${owner.userId}`
  expect(rows).toHaveLength(2)
  expect(answer.body).toMatchObject({ id, url: fixture.upstream.url })
  const texts = [...answers.map(({ text }) => text), ...rows.map(({ row }: { row: string }) => row)]
  for (const text of [...texts, fixture.gateway.output()]) {
    for (const hidden of [secret, routing.routing_key, 'that-grants-access', 'also-secret']) {
      expect(text).not.toContain(hidden)
    }
  }
})

test('another address of PagerDuty takes its key again', async () => {
  const owner = await fixture.newCustomer()
  const key = { routing_key: 'R0THATPAGESSOMEBODY0123456789012' }
  const { at } = await createDestination(owner, { kind: 'pagerduty', ...key })
  const { url } = fields()
  expect(problem(await api(owner, `PUT ${at}`, { url }))).toEqual([400, 'routing_key', 'required'])
  expect((await api(owner, `PUT ${at}`, { url, ...key })).status).toBe(200)
})

test('private addresses are neither stored nor called while the operator allows none', async () => {
  const owner = await fixture.newCustomer()
  const { at } = await createDestination(owner)
  answerWith(204)
  try {
    await fixture.gateway.admin('PUT', '/config', { allowed_private_networks: [] })
    expect(problem(await api(owner, `POST ${path}`, fields()))).toEqual([400, 'url', 'not_allowed'])
    const { url } = fields()
    expect(problem(await api(owner, `PUT ${at}`, { url }))).toEqual([400, 'url', 'not_allowed'])
    expect((await api(owner, `POST ${at}/test`)).body).toMatchObject({
      status: 'failed',
      response_status: null,
      error: 'The address was not reached.',
    })
    expect(received()).toEqual([])
  } finally {
    await allowLoopback(fixture.gateway)
  }
})

test.each<[Json, string | null, string]>([
  [{ name: '' }, 'name', 'too_short'],
  [{ kind: 'fax' }, 'kind', 'unknown_value'],
  [{ url: undefined }, 'url', 'required'],
  [{ url: 'http://hooks.example.com' }, 'url', 'not_allowed'],
  [{ url: 'https://user:pw@hooks.example.com' }, 'url', 'not_allowed'],
  [{ url: 'https://169.254.169.254/latest' }, 'url', 'not_allowed'],
  [{ url: 'https://hooks.example.com/#part' }, 'url', 'not_allowed'],
  [{ events: [] }, 'events', 'empty'],
  [{ events: ['all'] }, 'events.0', 'unknown_value'],
  [{ routing_key: 'R0123456789012345678901234567890' }, 'routing_key', 'not_allowed'],
  [{ kind: 'pagerduty' }, 'routing_key', 'required'],
])('a destination with %j is rejected at %s: %s', async (more, param, issue) => {
  const owner = await fixture.newCustomer()
  const answer = await api(owner, `POST ${path}`, fields(more))
  expect(problem(answer)).toEqual([400, param, issue])
})

test('another account sees no destination, and receives no event of it', async () => {
  const owner = await fixture.newCustomer()
  const stranger = await fixture.newCustomer()
  const { at } = await createDestination(owner)
  answerWith(204)
  await invite(stranger)
  expect((await api(stranger, `GET ${path}`)).body).toMatchObject({ destinations: [] })
  for (const request of [`GET ${at}`, `GET ${at}/deliveries`, `POST ${at}/test`, `DELETE ${at}`]) {
    expect((await api(stranger, request)).status).toBe(404)
  }
  expect(await deliveriesOf(owner, at)).toEqual([])
  expect((await api(owner, `DELETE ${at}`)).body).toMatchObject({ success: true })
  expect((await api(owner, `GET ${at}`)).status).toBe(404)
})
