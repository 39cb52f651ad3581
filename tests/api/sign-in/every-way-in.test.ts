import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { operatorLink } from './operator-link'
import { codeOf } from '../../../server/testing/auth/authenticator-app'
import { enableFactor } from '../../harness/authenticator-app'
import { Browser, linksFor, password, signUp } from '../../harness/browser-session'
import { openDatabase } from '../../harness/database'
import { startGateway, type Gateway } from '../../harness/server'

/**
 * Source: contract 2.5. All endpoints of the library, OAuth among them, are tried in
 * server/src/auth/sign-in/sign-in-routes.test.ts.
 */

const email = 'ada@example.com'
let gateway: Gateway
let sql: SQL & AsyncDisposable
let id: string
let factor: { secret: string; backupCodes: string[] }

beforeAll(async () => {
  gateway = await startGateway()
  sql = await openDatabase(gateway.dataDir)
  const browser = await signUp(gateway, sql, email)
  const [user] = await sql`update users set is_operator = true where email = ${email} returning id`
  id = user.id
  factor = await enableFactor(browser)
})
afterAll(async () => {
  await sql[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await sql`delete from auth_rate_limit`
  await sql`delete from auth_session`
})

const own = 'GET /api/connections'
const operators = 'GET /api/admin/users'
const statusesOf = async (browser: Browser) => [
  (await browser.send(own)).status,
  (await browser.send(operators)).status,
]

const mailed = async () => (await linksFor(sql, email))[0] ?? ''
const ask = (path: string, body: Record<string, string>) =>
  new Browser(gateway).send(`POST /api/auth/${path}`, { email, ...body })

/** The links that sign in, by where they come from. */
const links: Readonly<Record<string, () => Promise<string>>> = {
  async 'a mail with a link'() {
    await ask('sign-in/magic-link', { callbackURL: '/keys' })
    return mailed()
  },
  async 'a mail that confirms the address'() {
    await sql`update users set email_verified = false where id = ${id}`
    await ask('send-verification-email', { callbackURL: '/keys' })
    return mailed()
  },
  'the command line': () => operatorLink(gateway, email),
  async 'an operator'() {
    const { link } = await gateway.admin('POST', `/users/${id}/sign-in-link`)
    return String(link)
  },
}

describe('finding S25: an account with a second factor, an operator too,', () => {
  test.each(Object.entries(links))('needs it after a link of %s', async (_, makeLink) => {
    const browser = new Browser(gateway)
    const { status, location } = await browser.send(`GET ${await makeLink()}`)
    const to = URL.parse(location ?? '', gateway.url)
    expect([status, to?.pathname, to?.searchParams.get('factor')]).toEqual([
      302,
      '/sign-in',
      'required',
    ])
    expect(to?.searchParams.get('to')).toMatch(/^\/(keys)?$/)
    expect(await statusesOf(browser)).toEqual([401, 404])
    expect(await sql`select id from auth_session`).toHaveLength(0)
    const refused = await browser.send('POST /api/account/keys', { name: 'Mine' })
    expect(refused.status).toBe(401)
    const code = codeOf(factor.secret)
    const entered = await browser.send('POST /api/auth/two-factor/verify-totp', { code })
    expect([entered.status, await statusesOf(browser)]).toEqual([200, [200, 200]])
  })

  test('needs it after a link without a page to lead to', async () => {
    const browser = new Browser(gateway)
    const link = (await operatorLink(gateway, email)).replace('&callbackURL=%2F', '')
    const { status, body } = await browser.send(`GET ${link}`)
    expect([status, body]).toEqual([200, { twoFactorRedirect: true, twoFactorMethods: ['totp'] }])
    expect(await statusesOf(browser)).toEqual([401, 404])
  })

  test('needs it after a new password too', async () => {
    await ask('request-password-reset', { redirectTo: '/reset-password' })
    const token = new URL(await mailed()).pathname.split('/').at(-1)
    const browser = new Browser(gateway)
    const reset = { token, newPassword: password }
    expect((await browser.send('POST /api/auth/reset-password', reset)).status).toBe(200)
    const { body } = await browser.send('POST /api/auth/sign-in/email', { email, password })
    expect(body).toMatchObject({ twoFactorRedirect: true })
    expect(await statusesOf(browser)).toEqual([401, 404])
  })

  test('enters with a backup code, once', async () => {
    const [code] = factor.backupCodes
    const statuses: number[] = []
    for (let times = 0; times < 2; times++) {
      const browser = new Browser(gateway)
      await browser.send(`GET ${await operatorLink(gateway, email)}`)
      const path = 'POST /api/auth/two-factor/verify-backup-code'
      statuses.push((await browser.send(path, { code })).status)
    }
    expect(statuses).toEqual([200, 401])
  })
})

test('finding S25: the command line removes a lost second factor, with all sessions, and records it in the audit log', async () => {
  const other = 'grace@example.com'
  const browser = await signUp(gateway, sql, other)
  await enableFactor(browser)
  expect((await browser.send(own)).status).toBe(200)
  const link = await operatorLink(gateway, other, '--reset-second-factor')
  expect((await browser.send(own)).status).toBe(401)
  const again = new Browser(gateway)
  await again.send(`GET ${link}`)
  expect((await again.send(own)).status).toBe(200)
  const [user] = await sql`select id from users where email = ${other}`
  const { changes } = await gateway.admin('GET', `/audit-trail?object_id=${user.id}`)
  expect(changes).toEqual([
    expect.objectContaining({
      actor: 'operator_key',
      route: '/api/admin/users/:id/sign-in-link',
      sent: { command: 'tollgate sign-in-link', reset_second_factor: true },
    }),
  ])
})
