import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { openDatabase, startTwoNodes, type TwoNodes } from '../../harness/database'
import { signUp, type Browser } from '../../harness/browser-session'
import { problem, sendOperatorRequest } from '../../harness/operator'
import { mailEnvironment } from '../../harness/mail-environment'

let nodes: TwoNodes
let sql: SQL & AsyncDisposable
/** The session of an account whose role changes. */
let browser: Browser
let id: string

const email = 'sam@roles.example'

beforeAll(async () => {
  nodes = await startTwoNodes({ environment: mailEnvironment })
  sql = await openDatabase(nodes.a.dataDir)
  browser = await signUp(nodes.a, sql, email)
  id = await idOf(email)
})
afterAll(async () => {
  nodes.a.recorder.verify()
  await sql[Symbol.asyncDispose]()
  await nodes[Symbol.asyncDispose]()
})

async function idOf(address: string): Promise<string> {
  const [row] = await sql`select id from users where email = ${address}`
  return String(row.id)
}

const admin = (request: string, body?: object) => sendOperatorRequest(nodes.a, request, body)

const give = (role: string | null) => admin(`PUT /users/${id}`, { operator_role: role })

const onBoth = (expected: number[]) => [...expected, ...expected]

describe('a role', () => {
  test('is given and taken by an operator, holds at the next request on both nodes, and is on record', async () => {
    const paths = ['/api/admin/tickets', '/api/admin/transactions', '/api/admin/config']
    const statuses = async () => {
      const answers: number[] = []
      for (const node of [nodes.a, nodes.b]) {
        for (const path of paths)
          answers.push((await browser.send(`GET ${node.url}${path}`)).status)
      }
      return answers
    }
    expect(await statuses()).toEqual(onBoth([404, 404, 404]))
    expect((await give('support')).body).toMatchObject({
      is_operator: false,
      operator_role: 'support',
    })
    expect(await statuses()).toEqual(onBoth([200, 200, 403]))
    await give('finance')
    expect(await statuses()).toEqual(onBoth([403, 200, 403]))
    await give('read_only')
    expect(await statuses()).toEqual(onBoth([200, 200, 200]))
    expect((await give('operator')).body).toMatchObject({
      is_operator: true,
      operator_role: 'operator',
    })
    expect(await statuses()).toEqual(onBoth([200, 200, 200]))
    await give(null)
    expect(await statuses()).toEqual(onBoth([404, 404, 404]))
    const { body } = await admin(`GET /audit-trail?object_id=${id}&object_kind=user`)
    expect(body['changes']).toMatchObject(
      [null, 'operator', 'read_only', 'finance', 'support'].map((role) => ({
        actor: 'operator_key',
        sent: { operator_role: role },
      })),
    )
  })

  test('is stored so that nodes of the version before deny it', async () => {
    await give('finance')
    const [row] = await sql`select is_operator, operator_role from users where id = ${id}`
    expect(row).toEqual({ is_operator: false, operator_role: 'finance' })
    await admin(`PUT /users/${id}`, { is_operator: true })
    const [full] = await sql`select is_operator, operator_role from users where id = ${id}`
    expect(full).toEqual({ is_operator: true, operator_role: null })
    await give('support')
    const [none] = await sql`select is_operator, operator_role from users where id = ${id}`
    expect(none).toEqual({ is_operator: false, operator_role: 'support' })
    const { body } = await admin(`PUT /users/${id}`, { is_operator: false })
    expect(body).toMatchObject({ is_operator: false, operator_role: null })
  })

  test('is shown to its session, and found in the list', async () => {
    await give('support')
    const session = await browser.send('GET /api/auth/get-session')
    expect(session.body['user']).toMatchObject({ isOperator: false, operatorRole: 'support' })
    const { body } = await admin('GET /users?operator_role=support')
    expect(body['users']).toMatchObject([{ id, operator_role: 'support' }])
    const operators = await admin('GET /users?operator_role=operator&search=roles.example')
    expect(operators.body['users']).toEqual([])
    expect(problem(await admin('GET /users?operator_role=king'))).toEqual([
      400,
      'operator_role',
      'unknown_value',
    ])
  })

  test.each([
    [{ operator_role: 'king' }, 'unknown_value'],
    [{ operator_role: 5 }, 'wrong_type'],
    [{ operator_role: 'support', is_operator: true }, 'conflict'],
    [{ operator_role: 'operator', is_operator: false }, 'conflict'],
  ])('is rejected as %j', async (fields, issue) => {
    const made = await admin('POST /users', { email: 'new@roles.example', ...fields })
    expect([made.status, made.error?.details.issue]).toEqual([400, issue])
    const changed = await admin(`PUT /users/${id}`, fields)
    expect([changed.status, changed.error?.details.issue]).toEqual([400, issue])
  })

  test('ends with the suspension of its account', async () => {
    await give('support')
    await admin(`POST /users/${id}/suspend`, { reason: 'A test.' })
    expect((await browser.send('GET /api/admin/tickets')).status).toBe(404)
    await admin(`POST /users/${id}/reinstate`)
  })

  test('cannot be taken by the account itself', async () => {
    await give(null)
    for (const wish of [{ operatorRole: 'support' }, { operator_role: 'support' }]) {
      await browser.send('POST /api/auth/update-user', { name: 'Sam', ...wish })
      await browser.send('PUT /api/account/settings', { display_name: 'Sam', ...wish })
    }
    expect((await admin(`GET /users/${id}`)).body).toMatchObject({ operator_role: null })
  })
})

describe('support', () => {
  test('suspends and reinstates customers, and no operators', async () => {
    await give('support')
    const customer = await nodes.a.customer()
    const suspend = (user: string) =>
      browser.send(`POST /api/admin/users/${user}/suspend`, { reason: 'Asked for.' })
    expect((await suspend(customer.userId)).status).toBe(200)
    const back = await browser.send(`POST /api/admin/users/${customer.userId}/reinstate`, {})
    expect(back.body).toMatchObject({ status: 'active' })
    for (const role of ['operator', 'finance', 'read_only']) {
      const { body } = await admin('POST /users', {
        email: `${role}@suspension.example`,
        operator_role: role,
      })
      const user = String(body['id'])
      expect([role, (await suspend(user)).status]).toEqual([role, 403])
      await admin(`POST /users/${user}/suspend`, { reason: 'By an operator.' })
      const undone = await browser.send(`POST /api/admin/users/${user}/reinstate`, {})
      expect([role, undone.status]).toEqual([role, 403])
    }
  })

  test('sees a request with its cost, without margin, and the view is on record', async () => {
    await give('support')
    const customer = await nodes.a.customer({}, { credit: 5 })
    const sent = await fetch(`${nodes.a.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'sandbox/echo',
        messages: [{ role: 'user', content: 'A prompt of a customer' }],
      }),
    })
    await sent.text()
    const request = sent.headers.get('x-request-id') ?? ''
    const seen = await browser.send(`GET /api/admin/request-logs/${request}`)
    expect([seen.status, seen.body]).toEqual([
      200,
      expect.objectContaining({ id: request, revenue: null, provider_cost: null, margin: null }),
    ])
    expect(JSON.stringify(seen.body)).not.toContain('A prompt of a customer')
    await give('finance')
    const margin = await browser.send(`GET /api/admin/request-logs/${request}`)
    expect(margin.body['revenue']).toBeNumber()
    const { body } = await admin(`GET /audit-trail?object_id=${request}`)
    expect(body['changes']).toMatchObject([
      { actor: id, route: '/api/admin/request-logs/:id', object_kind: 'request' },
      { actor: id, route: '/api/admin/request-logs/:id', object_kind: 'request' },
    ])
    const views: { concerned: string[] }[] = JSON.parse(JSON.stringify(body['changes']))
    for (const { concerned } of views) expect(concerned).toContain(customer.userId)
  })

  test('is assigned tickets, as no other role beside operators is', async () => {
    const customer = await nodes.a.customer({ permissions: ['admin'] })
    const made = await fetch(`${nodes.a.url}/api/support/tickets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ subject: 'Help', description: 'It is slow.' }),
    })
    const { id: ticket } = JSON.parse(await made.text())
    await give('finance')
    const refused = await admin(`PUT /tickets/${ticket}`, { assignee_id: id })
    expect(problem(refused)).toEqual([400, 'assignee_id', 'unknown_value'])
    await give('support')
    expect((await admin(`PUT /tickets/${ticket}`, { assignee_id: id })).status).toBe(200)
  })
})

describe('the last full operator', () => {
  test('cannot be demoted, suspended or deleted, and others can', async () => {
    await give('operator')
    await sql`update users set is_operator = false where id <> ${id}`
    const refused = [
      await admin(`PUT /users/${id}`, { operator_role: 'support' }),
      await admin(`PUT /users/${id}`, { operator_role: null }),
      await admin(`PUT /users/${id}`, { is_operator: false }),
      await admin(`POST /users/${id}/suspend`, { reason: 'A test.' }),
      await admin(`DELETE /users/${id}`),
    ]
    expect(refused.map(problem)).toEqual(refused.map(() => [400, null, 'wrong_state']))
    expect((await admin(`PUT /users/${id}`, { display_name: 'Sam' })).status).toBe(200)
    const { body } = await admin('POST /users', {
      email: 'second@roles.example',
      operator_role: 'operator',
    })
    expect((await admin(`PUT /users/${id}`, { operator_role: 'support' })).status).toBe(200)
    const second = String(body['id'])
    expect(problem(await admin(`DELETE /users/${second}`))).toEqual([400, null, 'wrong_state'])
    await give('operator')
    expect((await admin(`DELETE /users/${second}`)).status).toBe(200)
  })

  test('remains when two operators are demoted at once', async () => {
    const { body } = await admin('POST /users', {
      email: 'other@roles.example',
      operator_role: 'operator',
    })
    const other = String(body['id'])
    const answers = await Promise.all([
      sendOperatorRequest(nodes.a, `PUT /users/${id}`, { operator_role: null }),
      sendOperatorRequest(nodes.b, `PUT /users/${other}`, { operator_role: null }),
    ])
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      200, 400,
    ])
    const rows = await sql`select id from users where is_operator and status = 'active'`
    expect(rows).toHaveLength(1)
  })
})
