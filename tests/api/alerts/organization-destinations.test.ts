import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { listIn } from './fixture'
import {
  call,
  completion,
  createModelFixture,
  idIn,
  problem,
  type Fixture,
} from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import { messages, sendRequest, type Json } from '../../harness/http'
import { newOrganization, type Organization } from '../../harness/organization'
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

const api = (by: Customer, request: string, body?: Json) => call(fixture.gateway, by, request, body)

const fields = (more: Json = {}): Json => ({
  name: 'Operations',
  kind: 'webhook',
  url: `${fixture.upstream.url}/hook`,
  ...more,
})

async function createDestination({ path, owner }: Organization, more: Json = {}) {
  const answer = await api(owner, `POST ${path}/notification-destinations`, fields(more))
  return { id: idIn(answer), at: `${path}/notification-destinations/${idIn(answer)}`, answer }
}

const received = () =>
  fixture.upstream.requests.filter(({ path: called }) => called.startsWith('/hook'))

/** Answers deliveries, and all else as a provider that rejects the key. */
function rejectKeys() {
  fixture.upstream.answer = ({ path: called }) =>
    called.startsWith('/hook')
      ? new Response('heard')
      : Response.json({ error: { message: 'Incorrect API key' } }, { status: 401 })
}

test('a low balance of the pool goes to the destinations of the organization, and to no other', async () => {
  const ours = await newOrganization(fixture)
  const others = await newOrganization(fixture)
  await createDestination(ours)
  await createDestination(others)
  fixture.upstream.answer = () => new Response('heard')
  await fixture.gateway.admin('POST', '/credits/grant', {
    organization_id: ours.id,
    amount: 3,
    reason: 'test',
  })
  await eventually(async () => {
    const [row] = await sql`select armed from balance_watch where account_id = ${ours.id}`
    return row?.armed === true
  })
  await fixture.gateway.admin('POST', '/credits/adjust', {
    organization_id: ours.id,
    amount: -2.5,
    reason: 'test',
  })
  await eventually(() => received().length > 0)
  expect(received().map(({ body }) => body)).toEqual([
    {
      type: 'balance.low',
      timestamp: expect.stringMatching(/Z$/),
      data: {
        title: expect.stringContaining('Low balance: the organization'),
        body: expect.stringContaining('$0.50, below $1.00'),
        organization_id: ours.id,
        link: `/billing?organization=${ours.id}`,
      },
    },
  ])
})

test('a connection of the organization whose key is rejected is delivered once, and notifies its managers', async () => {
  const ours = await newOrganization(fixture)
  const { at } = await createDestination(ours, { events: ['connection.failing'] })
  const admin = await ours.member('admin')
  const developer = await ours.member('developer')
  rejectKeys()
  const connectionId = idIn(await ours.connection())
  await sendRequest(fixture.gateway, {
    key: ours.owner.key,
    body: { model: 'fake/one', messages },
  })
  await eventually(() => received().length > 0)
  expect(received()[0]?.body).toMatchObject({
    type: 'connection.failing',
    data: {
      title: 'Connection fails: Ours',
      connection_id: connectionId,
      provider: 'fake',
      organization_id: ours.id,
      link: `/connections/${connectionId}`,
    },
  })
  const noticesOf = async (by: Customer) =>
    listIn(await api(by, 'GET /account/notifications?kind=connection_failing'), 'notifications')
  for (const by of [ours.owner, admin]) expect(await noticesOf(by)).toHaveLength(1)
  expect(await noticesOf(developer)).toEqual([])
  expect(listIn(await api(admin, `GET ${at}/deliveries`), 'deliveries')).toHaveLength(1)
})

test('a budget of the organization that reaches a percent goes to its destinations, with its figures', async () => {
  const ours = await newOrganization(fixture)
  await createDestination(ours, { events: ['budget.threshold'] })
  fixture.upstream.answer = ({ path: called }) =>
    called.startsWith('/hook') ? new Response('heard') : completion()
  idIn(await ours.connection())
  const budgetId = idIn(
    await api(ours.owner, `POST ${ours.path}/budgets`, {
      name: 'Echoes',
      unit: 'requests',
      amount: 1,
      window: 'total',
      enforcement: 'soft',
      notify_percents: [100],
    }),
  )
  await sendRequest(fixture.gateway, {
    key: ours.owner.key,
    body: { model: 'fake/one', messages },
  })
  await eventually(() => received().length > 0)
  expect(received().map(({ body }) => body)).toMatchObject([
    {
      type: 'budget.threshold',
      data: {
        title: 'Budget at 100%: Echoes',
        budget_id: budgetId,
        organization_id: ours.id,
        percent: 100,
        used: 1,
        link: `/organizations/${ours.id}`,
      },
    },
  ])
})

test('a connection of an account whose provider has no credit notifies the account, and again only after it worked for a day', async () => {
  const owner = await fixture.newCustomer()
  idIn(await api(owner, 'POST /account/notification-destinations', fields()))
  rejectKeys()
  const id = idIn(
    await api(owner, 'POST /connections', {
      name: 'one',
      provider: 'fake',
      api_key: 'sk-fake-0123456789',
      endpoint_url: fixture.upstream.url,
    }),
  )
  const request = { key: owner.key, body: { model: 'fake/one', messages } }
  await sendRequest(fixture.gateway, request)
  await eventually(() => received().length === 1)
  const setStatus = (status: string) =>
    sql`update connection set status = ${status} where id = ${id}`
  await setStatus('active')
  await setStatus('error')
  await sql`update connection set failure_notified_at = now() - interval '2 days' where id = ${id}`
  await setStatus('active')
  await eventually(async () => {
    const [row] = await sql`select failure_notified_at as at from connection where id = ${id}`
    return row?.at === null
  })
  expect(received()).toHaveLength(1)
  await setStatus('error')
  await eventually(() => received().length === 2)
})

/** The requests of one destination, by its path. */
const requestsAt = (path: string) =>
  ['GET ', 'GET /deliveries', 'POST /test', 'POST /rotate-secret', 'DELETE '].map((request) =>
    request.replace(' ', ` ${path}`),
  )

describe('destinations of an organization', () => {
  test('are created, tested, changed, rotated and deleted by its admins, and recorded in its audit log', async () => {
    const ours = await newOrganization(fixture)
    const admin = await ours.member('admin')
    fixture.upstream.answer = () => new Response('heard')
    const { at, answer } = await createDestination(ours)
    expect(answer.body).toMatchObject({
      events: ['balance.low', 'budget.threshold', 'connection.failing'],
      secret: expect.stringMatching(/^whsec_/),
    })
    expect((await api(admin, `POST ${at}/test`)).body).toMatchObject({ status: 'delivered' })
    expect((await api(admin, `PUT ${at}`, { name: 'Renamed' })).body).toMatchObject({
      name: 'Renamed',
    })
    const rotated = await api(admin, `POST ${at}/rotate-secret`)
    expect(rotated.body['secret']).not.toBe(answer.body['secret'])
    const [delivery] = listIn(await api(admin, `GET ${at}/deliveries`), 'deliveries')
    const resend = `POST ${at}/deliveries/${String(delivery?.['id'])}/resend`
    expect((await api(admin, resend)).body).toMatchObject({ status: 'waiting' })
    expect((await api(admin, `DELETE ${at}`)).body).toMatchObject({ success: true })
    expect((await api(admin, `GET ${at}`)).status).toBe(404)
    const filter = 'action=notification_destination'
    const trail = await api(ours.owner, `GET ${ours.path}/audit-trail?${filter}`)
    expect(listIn(trail, 'changes').map(({ action }) => action)).toEqual([
      'notification_destination.deleted',
      'notification_destination.changed',
      'notification_destination.changed',
      'notification_destination.created',
    ])
    expect(trail.text).not.toContain('whsec_')
  })

  test('take events of organizations only', async () => {
    const { owner, path } = await newOrganization(fixture)
    const body = fields({ events: ['ticket.replied'] })
    const answer = await api(owner, `POST ${path}/notification-destinations`, body)
    expect(problem(answer)).toEqual([400, 'events', 'not_allowed'])
  })

  test('are reached by no other role, organization or account, nor by the routes of accounts', async () => {
    const ours = await newOrganization(fixture)
    const { id, at } = await createDestination(ours)
    const own = idIn(await api(ours.owner, 'POST /account/notification-destinations', fields()))
    const list = `${ours.path}/notification-destinations`
    const theirs = await newOrganization(fixture)
    const developer = await ours.member('developer')
    fixture.upstream.answer = () => new Response('heard')
    for (const request of [`GET ${list}`, ...requestsAt(at)]) {
      expect((await api(developer, request)).status).toBe(403)
      expect((await api(theirs.owner, request)).status).toBe(404)
    }
    const elsewhere = [
      `${theirs.path}/notification-destinations/${id}`,
      `/account/notification-destinations/${id}`,
    ]
    for (const path of elsewhere) {
      for (const request of requestsAt(path)) {
        expect((await api(theirs.owner, request)).status).toBe(404)
      }
    }
    for (const request of [
      ...requestsAt(`/account/notification-destinations/${id}`),
      ...requestsAt(`${list}/${own}`),
    ]) {
      expect((await api(ours.owner, request)).status).toBe(404)
    }
    expect(received()).toEqual([])
    expect((await api(ours.owner, 'GET /account/notification-destinations')).body).toMatchObject({
      destinations: [{ id: own }],
    })
    expect((await api(ours.owner, `GET ${list}`)).body).toMatchObject({ destinations: [{ id }] })
  })

  test('vanish with their organization, and so do their waiting deliveries', async () => {
    const ours = await newOrganization(fixture)
    const { id } = await createDestination(ours)
    await sql`
      insert into notification_delivery (id, destination_id, event, payload, next_attempt_at)
      values ('dlv_00000000000000000000000000', ${id}, 'balance.low', '{}', now() + interval '1 hour')`
    expect((await api(ours.owner, `DELETE ${ours.path}`)).status).toBe(200)
    expect(await sql`select from notification_destination where id = ${id}`).toHaveLength(0)
    expect(await sql`select from notification_delivery where destination_id = ${id}`).toHaveLength(
      0,
    )
  })

  test('a destination that answers 410 is disabled, and owner and admins are notified', async () => {
    const ours = await newOrganization(fixture)
    const admin = await ours.member('admin')
    const { at } = await createDestination(ours, { events: ['connection.failing'] })
    fixture.upstream.answer = ({ path: called }) =>
      called.startsWith('/hook')
        ? new Response('gone', { status: 410 })
        : Response.json({ error: { message: 'Incorrect API key' } }, { status: 401 })
    idIn(await ours.connection())
    await sendRequest(fixture.gateway, {
      key: ours.owner.key,
      body: { model: 'fake/one', messages },
    })
    await eventually(async () => (await api(admin, `GET ${at}`)).body['enabled'] === false)
    for (const by of [ours.owner, admin]) {
      expect((await api(by, 'GET /account/notifications?kind=system')).body).toMatchObject({
        notifications: [{ link: `/organizations/${ours.id}?tab=limits` }],
      })
    }
  })
})
