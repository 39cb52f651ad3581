import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { kindsOf } from './cells'
import { allRoutes, describeRoutes, exampleOf, operationOf, pathOf } from './routes'
import type { Description, Route } from './routes'
import { bodies } from './rules'
import { sampled } from '../../../server/testing/depth'
import { createModelFixture, type Fixture } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import type { Json } from '../../harness/http'
import { Browser, signUp, type Page } from '../../harness/browser-session'

/** A01 to A05 once more, by those who have no key but a session's cookie. */

let fixture: Fixture
let sql: SQL & AsyncDisposable
let described: Description
let customer: Browser
let operator: Browser
/** Whose cookie is none. */
let forger: Browser

const routes = allRoutes()
const ofAccounts = routes.filter((route) => route.class === 'api')
const ofModels = routes.filter((route) => route.class === 'models')
const ofOperator = routes.filter((route) => route.class === 'operator')

const plenty = 1_000_000

beforeAll(async () => {
  fixture = await createModelFixture()
  const { gateway } = fixture
  await gateway.admin('PUT', '/config', { rates: { api_requests_per_minute: plenty } })
  described = await describeRoutes(gateway)
  sql = await openDatabase(gateway.dataDir)
  customer = await signUp(gateway, sql, 'customer@example.com')
  operator = await signUp(gateway, sql, 'operator@example.com')
  forger = new Browser(gateway)
  for (const [name, value] of customer.cookies) forger.cookies.set(name, `x${value}`)
  await sql`update users set is_operator = true where email = 'operator@example.com'`
})
afterAll(async () => {
  await sql[Symbol.asyncDispose]()
  await fixture[Symbol.asyncDispose]()
})

const isReading = ({ method }: Route) => method === 'GET'

function send(
  by: Browser,
  route: Route,
  { ids = route.parameters.map(() => 'never-was'), origin = '' } = {},
): Promise<Page> {
  const hasBody = !isReading(route) && route.method !== 'DELETE'
  const body: Json | undefined = hasBody
    ? (exampleOf(operationOf(described, route)) ?? bodies[route.name] ?? {})
    : undefined
  return by.send(`${route.method} ${pathOf(route, ids)}`, body, {
    accept: 'application/json',
    ...(origin !== '' && { origin }),
  })
}

const codeOf = ({ body: { error } }: Page): unknown =>
  typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined

/** What an answer tells, but for the id of its request. */
function outcome({ status, body }: Page) {
  const { error } = body
  if (typeof error !== 'object' || error === null) return { status, body }
  return { status, error: { ...error, request_id: undefined } }
}

/** Pages that are not ours: of another site, and of none that can be named. */
const foreign = ['https://evil.example', 'null']

const refusedAsForeign = async (by: Browser, route: Route, ids?: string[]) => {
  for (const origin of foreign) {
    const answer = await send(by, route, { ...(ids && { ids }), origin })
    expect([origin, answer.status, codeOf(answer)]).toEqual([
      origin,
      403,
      'insufficient_permissions',
    ])
  }
}

test('models are called with a key, never with a session', async () => {
  for (const route of ofModels) {
    const { status } = await send(customer, route)
    expect([route.name, status]).toEqual([route.name, 401])
  }
})

describe.each(sampled(ofAccounts, 4).map((route) => [route.name, route] as const))(
  '%s',
  (_name, route) => {
    test('lets a session in, and no page of others through it', async () => {
      if (!isReading(route)) await refusedAsForeign(customer, route)
      const { status, body } = await send(customer, route)
      expect([body, [401, 403, 500].includes(status)]).toEqual([body, false])
      expect((await send(forger, route)).status).toBe(401)
    })
  },
)

describe.each(sampled(ofOperator, 4).map((route) => [route.name, route] as const))(
  '%s',
  (_name, route) => {
    test('exists for a session of an operator alone, and for its own pages', async () => {
      const nowhere = { ...route, path: '/api/admin/never/was', parameters: [] }
      const absent = outcome(await send(customer, nowhere))
      expect(absent.status).toBe(404)
      const [kind] = kindsOf(route)
      const { ids } = (await kind?.make(fixture)) ?? { ids: [] }
      for (const origin of isReading(route) ? [''] : ['', ...foreign]) {
        expect(outcome(await send(customer, route, { ids, origin }))).toEqual(absent)
      }
      if (!isReading(route)) await refusedAsForeign(operator, route, ids)
      const { status, body } = await send(operator, route, { ids })
      expect([body, [401, 403, 404, 500].includes(status)]).toEqual([body, false])
    })
  },
)
