import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { createServer, type AddressInfo } from 'node:net'
import { eventually } from '../../../server/testing/eventually'
import { password, signUp } from '../../harness/browser-session'
import { call, createFixture, problem, type Fixture } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import { sendRequest, type Json } from '../../harness/http'
import { mailEnvironment } from '../../harness/mail-environment'
import { newOrganization } from '../../harness/organization'
import type { Customer } from '../../harness/server'

let fixture: Fixture
beforeAll(async () => {
  fixture = await createFixture(mailEnvironment)
})
afterAll(() => fixture[Symbol.asyncDispose]())

async function download(path: string, key: string) {
  const answer = await fetch(`${fixture.gateway.url}/api${path}`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const text = await answer.text()
  return { status: answer.status, type: answer.headers.get('content-type'), text }
}

const linesOf = (text: string): Json[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

const operate = (method: string, path: string, body?: Json) =>
  fixture.gateway.admin(method, path, body)

test('an organization’s managers download its audit log, oldest first, with the filters of the list', async () => {
  const { owner, id, member } = await newOrganization(fixture)
  await call(fixture.gateway, owner, `PUT /organizations/${id}`, { description: 'Ours.' })
  const path = `/organizations/${id}/audit-trail/export`
  const { type, text } = await download(path, owner.key)
  expect(type).toBe('application/x-ndjson')
  expect(linesOf(text)).toMatchObject([
    { log: 'organization', organization_id: id, action: 'organization.created' },
    { action: 'organization.changed', after: { description: 'Ours.' }, actor: owner.userId },
  ])
  const filtered = await download(`${path}?action=organization.changed`, owner.key)
  expect(linesOf(filtered.text)).toHaveLength(1)
  expect((await download(path, (await member('developer')).key)).status).toBe(403)
  expect((await download(path, (await fixture.newCustomer()).key)).status).toBe(404)
})

test('operators download their audit log, and the download is in it', async () => {
  const { adminKey } = fixture.gateway
  await operate('PUT', '/config', { platform_fee_percent: 1 })
  const exported = () => download('/admin/audit-trail/export?actor=operator_key', adminKey)
  const lines = linesOf((await exported()).text)
  expect(lines.at(-1)).toMatchObject({ log: 'operators', route: '/api/admin/audit-trail/export' })
  expect(lines.map(({ created_at: at }) => String(at))).toEqual(
    lines.map(({ created_at: at }) => String(at)).toSorted(),
  )
})

test('a webhook of the installation receives each entry, signed, also after it was down', async () => {
  const received: { id: string; signature: string; time: string; body: string }[] = []
  const state = { isUp: true }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = await request.text()
      const header = (name: string) => request.headers.get(`webhook-${name}`) ?? ''
      if (state.isUp) {
        received.push({
          id: header('id'),
          signature: header('signature'),
          time: header('timestamp'),
          body,
        })
      }
      return new Response(null, { status: state.isUp ? 204 : 500 })
    },
  })
  try {
    state.isUp = false
    const url = `${server.url.href}in?token=hidden`
    const body = { name: 'SIEM', kind: 'webhook', url }
    const made = await operate('POST', '/audit-destinations', body)
    const id = String(made['id'])
    expect(made['url']).toBe(server.url.origin)
    const { id: orgId, owner } = await newOrganization(fixture)
    const listed = async () => {
      const { destinations } = await operate('GET', '/audit-destinations')
      return Array.isArray(destinations) ? destinations.find((one) => one.id === id) : undefined
    }
    await eventually(async () => (await listed()).failing_since !== null)
    expect(await listed()).toMatchObject({ last_error: 'The answer was 500.', delivered: 0 })
    state.isUp = true
    // A change makes what waits due.
    await operate('PUT', `/audit-destinations/${id}`, { name: 'Up again' })
    await eventually(async () => (await listed()).waiting === 0 && received.length >= 3)
    const entries = received.map(({ body: text }) => JSON.parse(text))
    expect(entries[0]).toMatchObject({
      type: 'audit.entry',
      data: { log: 'operators', object_id: id, sent: { url: server.url.origin } },
    })
    expect(entries.map(({ data }) => data.organization_id)).toContain(orgId)
    expect(owner.userId).toBe(
      entries.find(({ data }) => data.organization_id === orgId)?.data.actor,
    )
    const key = Buffer.from(String(made['secret']).replace('whsec_', ''), 'base64')
    for (const { id: messageId, signature, time, body: text } of received) {
      expect(messageId).toBe(JSON.parse(text).data.id)
      const mac = createHmac('sha256', key).update(`${messageId}.${time}.${text}`).digest('base64')
      expect(signature).toBe(`v1,${mac}`)
    }
    await operate('DELETE', `/audit-destinations/${id}`)
  } finally {
    await server.stop(true)
  }
})

test('a syslog server of the installation receives frames of RFC 6587', async () => {
  let text = ''
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('data', (piece: Buffer) => (text += piece.toString('latin1')))
    socket.on('end', () => socket.end())
  })
  const listening = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', listening.resolve)
  await listening.promise
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = server.address() as AddressInfo
  const url = `tcp://127.0.0.1:${port}`
  const made = await operate('POST', '/audit-destinations', { name: 'S', kind: 'syslog', url })
  const id = String(made['id'])
  await eventually(() => text.includes(id))
  const [, length = '', message = ''] = /^(\d+) ([^]*)$/.exec(text) ?? []
  const first = message.slice(0, Number(length))
  expect(first).toMatch(/^<109>1 \S+Z \S+ tollgate - operator\.audit_destination - \{.*\}$/)
  await operate('DELETE', `/audit-destinations/${id}`)
  server.close()
})

test('an organization’s destinations are guarded: no plain TCP, no private address', async () => {
  const { owner, path } = await newOrganization(fixture)
  const create = (kind: string, url: string) =>
    call(fixture.gateway, owner, `POST ${path}/audit-destinations`, { name: 'S', kind, url })
  for (const [kind, url] of [
    ['syslog', 'tcp://siem.example.com:601'],
    ['syslog', 'tls://10.0.0.7:6514'],
    ['syslog', 'tls://siem.example.com:22'],
    ['webhook', 'http://siem.example.com/in'],
    ['webhook', 'https://localhost/in'],
  ] as const) {
    expect(problem(await create(kind, url))).toContain(400)
  }
  expect((await create('syslog', 'tls://siem.example.com:6514')).status).toBe(201)
})

const hold = async (subjectId: string) =>
  String((await operate('POST', '/legal-holds', { subject_id: subjectId, reason: 'Case 1.' })).id)

const erase = async ({ userId }: Customer) => {
  const answer = await sendRequest(fixture.gateway, {
    path: `/api/admin/users/${userId}`,
    method: 'DELETE',
    key: fixture.gateway.adminKey,
  })
  return answer.status === 200 ? [200, undefined] : [answer.status, answer.error.details?.['issue']]
}

test('a legal hold blocks the deletion of its account, and of members of its organization, until it ends', async () => {
  const person = await fixture.newCustomer()
  const { owner, id, member, path } = await newOrganization(fixture)
  const employee = await member()
  const holds = [await hold(person.userId), await hold(id)]
  expect(await erase(person)).toEqual([400, 'legal_hold'])
  expect(await erase(employee)).toEqual([400, 'legal_hold'])
  expect(problem(await call(fixture.gateway, owner, `DELETE ${path}`))).toContain(400)
  // The refusal has changed nothing.
  expect((await call(fixture.gateway, person, 'GET /account/settings')).status).toBe(200)
  for (const one of holds) await operate('POST', `/legal-holds/${one}/end`)
  expect(await erase(person)).toEqual([200, undefined])
  expect(await erase(employee)).toEqual([200, undefined])
  const { changes } = await operate('GET', '/audit-trail?object_kind=legal_hold')
  const routes = Array.isArray(changes) ? changes.map(({ route }) => route) : []
  expect(routes.filter((route) => route === '/api/admin/legal-holds/:id/end')).toHaveLength(2)
})

test('an account downloads its own data, and a signed-in user deletes the account', async () => {
  const { gateway } = fixture
  const customer = await fixture.newCustomer()
  const { text } = await download('/account/export', customer.key)
  expect(linesOf(text)).toContainEqual(
    expect.objectContaining({
      table: 'users',
      row: expect.objectContaining({ id: customer.userId }),
    }),
  )
  expect(text).not.toContain(customer.key)
  const byKey = await call(gateway, customer, 'POST /account/delete', { email: 'a@example.com' })
  expect(problem(byKey)).toContain(400)

  await using sql = await openDatabase(gateway.dataDir)
  const email = 'leaving@example.com'
  const browser = await signUp(gateway, sql, email)
  const wrong = await browser.send('POST /api/account/delete', { email: 'other@example.com' })
  expect(wrong.status).toBe(400)
  const [{ id }] = await sql`select id from users where email = ${email}`
  const held = await hold(id)
  const refused = await browser.send('POST /api/account/delete', { email })
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([
    400,
    expect.stringContaining('legal_hold'),
  ])
  await operate('POST', `/legal-holds/${held}/end`)
  expect((await browser.send('POST /api/account/delete', { email })).status).toBe(200)
  expect(await sql`select id from users where email = ${email}`).toHaveLength(0)
  const again = { email, password }
  const signIn = await browser.send('POST /api/auth/sign-in/email', again)
  expect(signIn.status).toBeGreaterThanOrEqual(400)
  expect((await browser.send('GET /api/account/settings')).status).toBe(401)
})
