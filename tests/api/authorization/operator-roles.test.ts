import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { allRoutes, describeAllRoutes, exampleOf, operationOf, pathOf } from './routes'
import type { Description, Route } from './routes'
import { bodies } from './rules'
import { openDatabase } from '../../harness/database'
import { signUp, type Browser, type Page } from '../../harness/browser-session'
import { mailEnvironment } from '../../harness/mail-environment'
import { startGateway, type Gateway } from '../../harness/server'

/** Every route of operators, by every role that there is. */

const limitedRoles = ['support', 'finance', 'read_only'] as const
type LimitedRole = (typeof limitedRoles)[number]

let gateway: Gateway
let sql: SQL & AsyncDisposable
let described: Description
/** The session of an account whose role changes. */
let browser: Browser
let userId: string

const routes = allRoutes().filter((route) => route.class === 'operator')

beforeAll(async () => {
  gateway = await startGateway({ environment: mailEnvironment })
  sql = await openDatabase(gateway.dataDir)
  described = await describeAllRoutes(gateway)
  const email = 'sam@roles.example'
  browser = await signUp(gateway, sql, email)
  const [user] = await sql`select id from users where email = ${email}`
  userId = String(user.id)
})
afterAll(async () => {
  gateway.recorder.verify()
  await sql[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})

const give = (role: string) => gateway.admin('PUT', `/users/${userId}`, { operator_role: role })

/** Calls a route about an object that never was, so that a permitted caller changes little. */
function send(route: Route): Promise<Page> {
  const hasBody = route.method !== 'GET' && route.method !== 'DELETE'
  const example = exampleOf(operationOf(described, route)) ?? bodies[route.name] ?? {}
  const ids = route.parameters.map(() => 'never-was')
  return browser.send(`${route.method} ${pathOf(route, ids)}`, hasBody ? example : undefined)
}

const errorOf = ({ body }: Page): object => Object(body['error'])

const mayCall = (role: LimitedRole, { roles = [] }: Route) => roles.includes(role)

describe.each(limitedRoles)('the role %s', (role) => {
  beforeAll(() => give(role))

  test.each(routes.map((route) => [route.name, route] as const))(
    'is admitted to %s exactly where it is declared',
    async (_name, route) => {
      const answer = await send(route)
      if (mayCall(role, route)) {
        expect([answer.body, [401, 403, 500].includes(answer.status)]).toEqual([answer.body, false])
        return
      }
      expect(answer.status).toBe(403)
      expect(errorOf(answer)).toMatchObject({
        code: 'insufficient_permissions',
        message: expect.stringContaining(role),
        details: { required: ['operator', ...(route.roles ?? [])], current: [role] },
      })
    },
  )

  test('reads the endpoints that it may call, as declared', async () => {
    const { body } = await browser.send('GET /api/admin/operator')
    const permitted = routes.filter((route) => mayCall(role, route))
    expect(body['role']).toBe(role)
    expect(Object(body['endpoints']).toSorted()).toEqual(
      permitted.map(({ name }) => name.replaceAll(/:(\w+)/g, '{$1}')).toSorted(),
    )
  })
})

/** The changes that a role may request. */
const changesOf = (role: LimitedRole) =>
  routes
    .filter((route) => route.method !== 'GET' && mayCall(role, route))
    .map(({ name }) => name.replace('/api/admin', ''))
    .toSorted()

test('the changes that each role may request', () => {
  expect(changesOf('read_only')).toEqual([])
  expect(changesOf('support')).toEqual([
    'POST /tickets/:id/comments',
    'POST /users/:id/reinstate',
    'POST /users/:id/suspend',
    'PUT /tickets/:id',
  ])
  expect(changesOf('finance')).toEqual([
    'DELETE /plans/:id',
    'POST /credits/adjust',
    'POST /credits/grant',
    'POST /plans',
    'POST /quota-requests/:id/approve',
    'POST /quota-requests/:id/reject',
    'PUT /plans/:id',
  ])
})

test('no role but operator reads the whole data of an account', () => {
  const exported = routes.find(({ name }) => name === 'GET /api/admin/users/:id/export')
  expect(exported?.roles).toEqual([])
})

test('a customer, and a key of an account with a role, find no path', async () => {
  const customer = await signUp(gateway, sql, 'customer@roles.example')
  expect((await customer.send('GET /api/admin/operator')).status).toBe(404)
  await give('finance')
  const made = await gateway.admin('POST', `/users/${userId}/keys`, {
    name: 'Admin',
    permissions: ['admin'],
  })
  const key = String(made['key'])
  gateway.recorder.canary(key)
  const headers = { authorization: `Bearer ${key}` }
  const answer = await browser.send('GET /api/admin/operator', undefined, headers)
  expect(answer.status).toBe(404)
})

test('a role of another origin changes nothing', async () => {
  const body = { name: 'Evil' }
  const headers = { origin: 'https://evil.example' }
  await give('finance')
  const answer = await browser.send('POST /api/admin/plans', body, headers)
  expect([answer.status, errorOf(answer)]).toEqual([
    403,
    expect.objectContaining({ details: { required: ['same_origin'], current: [] } }),
  ])
})

test('the operator key and a full operator may call everything', async () => {
  await give('operator')
  const { body } = await browser.send('GET /api/admin/operator')
  expect(body).toMatchObject({ role: 'operator' })
  expect(body['endpoints']).toHaveLength(routes.length)
  expect(await gateway.admin('GET', '/operator')).toEqual(body)
})
