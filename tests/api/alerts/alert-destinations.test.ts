import { afterAll, beforeAll, expect, test } from 'bun:test'
import { listIn } from './fixture'
import { call, createModelFixture, idIn, problem, type Fixture } from '../../harness/byok'
import { messages, sendRequest, type Json } from '../../harness/http'
import type { Customer } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createModelFixture({ ALERT_SECONDS: '0.2' })
})
afterAll(() => fixture[Symbol.asyncDispose]())

const api = (by: Customer, request: string, body?: Json) => call(fixture.gateway, by, request, body)

async function createDestination(owner: Customer) {
  const path = '/account/notification-destinations'
  const fields = { name: 'Operations', kind: 'webhook', url: `${fixture.upstream.url}/hook` }
  const id = idIn(await api(owner, `POST ${path}`, fields))
  return { id, at: `${path}/${id}` }
}

const deliveriesOf = async (owner: Customer, at: string) =>
  listIn(await api(owner, `GET ${at}/deliveries`), 'deliveries')

test('an alert that names destinations goes to those alone, and forgets deleted destinations', async () => {
  const owner = await fixture.newCustomer()
  const stranger = await fixture.newCustomer()
  const first = await createDestination(owner)
  const second = await createDestination(owner)
  const foreign = await createDestination(stranger)
  fixture.upstream.answer = ({ path: called }) =>
    called.startsWith('/hook')
      ? new Response('heard')
      : Response.json({ error: { message: 'broken' } }, { status: 400 })
  const rule = { name: 'Failures', type: 'error_rate', threshold: 0, min_requests: 1 }
  const named = (...ids: string[]) => ({ ...rule, notification_destinations: ids })
  expect(problem(await api(owner, 'POST /account/alerts', named(first.id, foreign.id)))).toEqual([
    400,
    'notification_destinations.1',
    'unknown_value',
  ])
  const alertId = idIn(await api(owner, 'POST /account/alerts', named(second.id)))
  idIn(
    await api(owner, 'POST /connections', {
      name: 'one',
      provider: 'fake',
      api_key: 'sk-fake-0123456789',
      endpoint_url: fixture.upstream.url,
    }),
  )
  await sendRequest(fixture.gateway, { key: owner.key, body: { model: 'fake/one', messages } })
  await eventually(async () => (await deliveriesOf(owner, second.at)).length === 1)
  expect(await deliveriesOf(owner, first.at)).toEqual([])
  await api(owner, `DELETE ${second.at}`)
  const read = async () => (await api(owner, `GET /account/alerts/${alertId}`)).body
  expect((await read())['notification_destinations']).toEqual([])
  const change = { notification_destinations: null }
  expect((await api(owner, `PUT /account/alerts/${alertId}`, change)).status).toBe(200)
  expect((await read())['notification_destinations']).toBeNull()
})
