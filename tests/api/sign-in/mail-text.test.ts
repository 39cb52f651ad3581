import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { Browser, password, signUp } from '../../harness/browser-session'
import { call } from '../catalogue/requests'
import { openDatabase } from '../../harness/database'
import { startGateway, type Gateway } from '../../harness/server'

let gateway: Gateway
let sql: SQL & AsyncDisposable

beforeAll(async () => {
  gateway = await startGateway()
  sql = await openDatabase(gateway.dataDir)
})
afterAll(async () => {
  await sql[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})

const lure = 'LURE-www.evil.example'
const rested = () => sql`delete from auth_rate_limit`
let addresses = 0
const newEmail = () => `lured-${(addresses += 1)}@example.com`

/** Subject and body of each mail to an address. */
async function mailsTo(email: string): Promise<string[]> {
  const rows: { subject: string; body: string }[] =
    await sql`select subject, body from mail where recipient = ${email}`
  return rows.map(({ subject, body }) => `${subject}\n${body}`)
}

test('S4: no mail about an account holds the name that was typed with its address', async () => {
  const email = newEmail()
  const browser = new Browser(gateway)
  await rested()
  const name = `${lure} wants you`
  const signUp = { email, password, name }
  expect((await browser.send('POST /api/auth/sign-up/email', signUp)).status).toBe(200)
  // Again, to the address that has an account now; a password, a link, another confirmation.
  await browser.send('POST /api/auth/sign-up/email', signUp)
  await browser.send('POST /api/auth/request-password-reset', { email, redirectTo: '/x' })
  await browser.send('POST /api/auth/sign-in/magic-link', { email, name, callbackURL: '/' })
  await browser.send('POST /api/auth/send-verification-email', { email, callbackURL: '/' })
  const mails = await mailsTo(email)
  expect(mails.length).toBeGreaterThanOrEqual(4)
  for (const mail of mails) expect(mail).not.toContain('LURE')
})

test('finding S32: a request under an invented host puts no address of it into a mail', async () => {
  const email = newEmail()
  await rested()
  await signUp(gateway, sql, email)
  const host = 'evil.example'
  const headers = { host, origin: `https://${host}` }
  for (const [path, field] of [
    ['request-password-reset', 'redirectTo'],
    ['sign-in/magic-link', 'callbackURL'],
    ['sign-in/magic-link', 'errorCallbackURL'],
    ['sign-in/magic-link', 'newUserCallbackURL'],
    ['send-verification-email', 'callbackURL'],
    ['sign-up/email', 'callbackURL'],
  ] as const) {
    for (const to of [`https://${host}/`, `http://${host}`, `//${host}/`, `/.//${host}/`]) {
      const fields =
        path === 'sign-up/email' ? { email: newEmail(), password, name: 'Eve' } : { email }
      const body = { ...fields, [field]: to }
      await rested()
      const { status } = await new Browser(gateway).send(`POST /api/auth/${path}`, body, headers)
      expect([path, field, to, status]).toEqual([path, field, to, 403])
    }
  }
  const mails = await sql`select 1 from mail where body like ${`%${host}%`}`
  expect([...mails]).toEqual([])
})

test('S4: an invitation contains neither the name of the organization nor its owner’s text', async () => {
  const owner = await gateway.customer({ permissions: ['admin'] })
  const made = await call(gateway, owner, 'POST /organizations', { name: `${lure} Inc.` })
  expect(made.status).toBe(201)
  const email = newEmail()
  const invited = await call(
    gateway,
    owner,
    `POST /organizations/${String(made.body['id'])}/members/invite`,
    { email, role: 'member', message: `Open http://${lure}/` },
  )
  expect([invited.status, invited.text.includes('LURE')]).toEqual([201, true])
  const mails = await mailsTo(email)
  expect(mails).toHaveLength(1)
  expect(mails[0]).toContain('You are invited to join an organization as member.')
  expect(mails[0]).not.toContain('LURE')
  // Behind the sign-in of that address they are shown.
  await rested()
  const browser = await signUp(gateway, sql, email)
  const shown = await browser.send('GET /api/organizations/invitations')
  expect(JSON.stringify(shown.body)).toContain(lure)
})

test.each([
  '',
  '   ',
  'x'.repeat(101),
  'x'.repeat(60_000),
  'Ada\nBcc: all@example.com',
  'Ada\r\n\r\nOpen this',
  'Ada\u2028Eve',
  '\u202eevE',
  'a\u0000b',
  7,
  null,
  { toString: 'x' },
])('S4, S9: %j is not a name, at sign-up and later', async (name) => {
  await rested()
  const email = newEmail()
  const browser = new Browser(gateway)
  const body = JSON.parse(JSON.stringify({ email, password, name }))
  const { status } = await browser.send('POST /api/auth/sign-up/email', body)
  expect(status).toBe(400)
  expect(await sql`select id from users where email = ${email}`).toHaveLength(0)
})

test('S4: a name of an account or organization is one line in every other place too', async () => {
  const owner = await gateway.customer({ permissions: ['admin'] })
  const bad = 'Ada\nOpen http://evil.example'
  for (const [request, fields] of [
    ['PUT /account/settings', { display_name: bad }],
    ['POST /organizations', { name: bad }],
    ['POST /account/keys', { name: bad }],
    ['POST /account/alerts', { name: bad, type: 'cost_threshold', threshold: 1 }],
  ] as const) {
    const { status, error } = await call(gateway, owner, request, fields)
    expect([request, status, error.message]).toEqual([
      request,
      400,
      expect.stringContaining('must be one line'),
    ])
  }
})

test('S9: NUL and other control characters are 400 in every text that sign-in reads', async () => {
  await rested()
  const browser = new Browser(gateway)
  for (const [path, body] of [
    ['sign-up/email', { email: newEmail(), password, name: 'a\0b' }],
    ['sign-up/email', { email: 'a\0@example.com', password, name: 'a' }],
    ['sign-up/email', { email: newEmail(), password: `${password}\0`, name: 'a' }],
    ['sign-up/email', { email: newEmail(), password, name: 'a', callbackURL: '/\0' }],
    ['sign-in/email', { email: 'a\0@example.com', password }],
    ['sign-in/magic-link', { email: 'a@example.com', name: '\0', callbackURL: '/' }],
    ['request-password-reset', { email: 'a@example.com', redirectTo: '/\0' }],
    ['reset-password', { token: 'a\0', newPassword: password }],
    ['two-factor/verify-totp', { code: '\0' }],
    ['sign-in/social', { provider: 'git\0hub' }],
  ] as const) {
    const { status } = await browser.send(`POST /api/auth/${path}`, { ...body })
    expect([path, status]).toEqual([path, 400])
  }
})
