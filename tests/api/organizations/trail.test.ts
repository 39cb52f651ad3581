import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { changes, unrecordedRoutes, type Change } from './trail-changes'
import { kindsOf } from '../authorization/cells'
import {
  allRoutes,
  describeRoutes,
  exampleOf,
  operationOf,
  pathOf,
  type Description,
  type Route,
} from '../authorization/routes'
import { bodies } from '../authorization/rules'
import { createModelFixture, type Fixture } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import { sendRequest, type Answer, type Json } from '../../harness/http'
import { paidBy } from '../payments/fixture'
import { startStripeDouble, type StripeDouble } from '../payments/stripe-double'
import type { Customer } from '../../harness/server'

/**
 * Every change in an organization is on record, once, and nothing else is. A route that is added is tried
 * by itself: one that changes nothing of an organization stands in `unrecorded`, with the reason.
 */

let fixture: Fixture
let double: StripeDouble
let sql: SQL & AsyncDisposable
let described: Description
let stranger: Customer

beforeAll(async () => {
  double = startStripeDouble()
  fixture = await createModelFixture(paidBy(double))
  described = await describeRoutes(fixture.gateway)
  sql = await openDatabase(fixture.gateway.dataDir)
  stranger = await fixture.newCustomer()
})
afterAll(async () => {
  await sql[Symbol.asyncDispose]()
  await fixture[Symbol.asyncDispose]()
  await double[Symbol.asyncDispose]()
})
afterEach(() => fixture.reset())

const changing = allRoutes().filter(
  ({ class: one, tenant, method, path }) =>
    one === 'api' &&
    method !== 'GET' &&
    (tenant === 'organization' || path.startsWith('/api/organizations/')),
)

function bodyOf(route: Route): Json | undefined {
  if (route.method === 'DELETE') return undefined
  return exampleOf(operationOf(described, route)) ?? bodies[route.name] ?? {}
}

const send = (route: Route, { by, ids, body }: Change) =>
  sendRequest(fixture.gateway, {
    path: pathOf(route, ids),
    method: route.method,
    key: by.key,
    ...(body && { body }),
  })

const onRecord = async ({ headers }: Answer): Promise<Json[]> => [
  ...(await sql`
    select * from organization_trail where request_id = ${headers.get('x-request-id')}`),
]

/** What a route can do: to things of organizations, and to what accounts have of their own. */
async function doneBy(route: Route) {
  const own: Change[] = []
  const shared: Change[] = []
  const special = changes[route.name]
  if (special) shared.push(await special(fixture))
  const isOfOrganizations = route.path.startsWith('/api/organizations')
  for (const kind of special && isOfOrganizations ? [] : kindsOf(route)) {
    const { owner, ids, viewer } = await kind.make(fixture)
    const body = bodyOf(route)
    const change = { by: owner, ids, ...(body && { body }) }
    const isShared = isOfOrganizations || viewer !== undefined
    if (!isShared) own.push(change)
    else if (!special) shared.push(change)
  }
  return { own, shared }
}

const succeeded = ({ status, text }: Answer) => expect([status < 300, text]).toEqual([true, text])

/** Routes whose example is refused without more, and why. */
const needsMore: Readonly<Record<string, string>> = {
  'PUT /api/connections/:id/models/pricing': 'its model was not found yet',
  'POST /api/connection-pools': 'its connections belong to no account',
}

test('the list of never recorded changes is current', () => {
  const names = new Set(changing.map(({ name }) => name))
  expect(
    Object.keys({ ...unrecordedRoutes, ...changes }).filter((name) => !names.has(name)),
  ).toEqual([])
  expect(changing.length).toBeGreaterThan(20)
})

describe.each(changing.map((route) => [route.name, route] as const))('%s', (_name, route) => {
  const isRecorded = !unrecordedRoutes[route.name]

  test(`is on record ${isRecorded ? 'once' : 'never'} where it is an organization's`, async () => {
    const { shared } = await doneBy(route)
    if (isRecorded) expect(shared.length).toBeGreaterThan(0)
    for (const change of shared) {
      const answer = await send(route, change)
      if (isRecorded) succeeded(answer)
      const rows = await onRecord(answer)
      expect(rows).toHaveLength(isRecorded ? 1 : 0)
      if (!isRecorded) continue
      const { userId, keyId } = change.by
      const { email } = await fixture.gateway.admin('GET', `/users/${userId}`)
      expect(rows[0]).toMatchObject({
        organization_id: expect.stringMatching(/^org_/),
        actor: userId,
        actor_email: email,
        key_id: keyId,
        action: expect.stringMatching(/^[a-z_]+\.[a-z_]+$/),
        client_address: expect.stringMatching(/127\.0\.0\.1|::1/),
      })
      const { before, after } = rows[0] ?? {}
      expect(before !== null || after !== null).toBe(true)
    }
  })

  test('records nothing of rejected changes, or of accounts’ own objects', async () => {
    const { own, shared } = await doneBy(route)
    for (const change of own) {
      const answer = await send(route, change)
      if (isRecorded && !needsMore[route.name]) succeeded(answer)
      expect([answer.text, await onRecord(answer)]).toEqual([answer.text, []])
    }
    if (!isRecorded) return
    let refused = 0
    for (const change of shared) {
      const broken = { name: 1, unheard_of: 1, amount: -1, role: 1, message: 1 }
      const refusals = [
        ...(route.parameters.length > 0 ? [{ ...change, by: stranger }] : []),
        ...(change.body ? [{ ...change, body: broken }] : []),
      ]
      for (const refusal of refusals) {
        const answer = await send(route, refusal)
        if (answer.status < 400) continue
        refused += 1
        expect([answer.text, await onRecord(answer)]).toEqual([answer.text, []])
      }
    }
    expect(refused).toBeGreaterThan(0)
  })
})
