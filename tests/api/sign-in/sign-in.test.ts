import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { Browser, linksFor, password, signUp } from '../../harness/browser-session'
import { operatorLink } from './operator-link'
import { openDatabase } from '../../harness/database'
import { startGateway, type Gateway } from '../../harness/server'

let gateway: Gateway
let sql: SQL & AsyncDisposable
// One address serves all tests; the limits of sign-in have a test of their own.
let client = 0
const from = () => new Browser(gateway)

beforeAll(async () => {
  gateway = await startGateway()
  sql = await openDatabase(gateway.dataDir)
})
afterAll(async () => {
  await sql[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})

const newEmail = () => `ada-${++client}@example.com`
/** The library counts by address; tests share one. */
const rested = () => sql`delete from auth_rate_limit`
const keys = 'GET /api/connections'

describe('an address and a password', () => {
  test('sign in once the address is confirmed', async () => {
    await rested()
    const email = newEmail()
    const browser = from()
    const fields = { email, password, name: 'Ada' }
    const made = await browser.send('POST /api/auth/sign-up/email', fields)
    expect(made.status).toBe(200)
    const early = await browser.send('POST /api/auth/sign-in/email', { email, password })
    expect([early.status, early.body['code']]).toEqual([403, 'EMAIL_NOT_VERIFIED'])
    expect((await browser.send(keys)).status).toBe(401)
    const [link = ''] = await linksFor(sql, email)
    expect((await browser.send(`GET ${link}`)).status).toBe(302)
    expect((await browser.send(keys)).status).toBe(200)
    const again = from()
    const entered = await again.send('POST /api/auth/sign-in/email', { email, password })
    expect(entered.status).toBe(200)
    expect((await again.send(keys)).status).toBe(200)
  })

  test('a wrong password opens nothing, and an unknown address answers alike', async () => {
    await rested()
    const email = newEmail()
    await signUp(gateway, sql, email)
    const wrong = { email, password: 'another long password' }
    const unknown = { email: newEmail(), password }
    const answers = [
      await from().send('POST /api/auth/sign-in/email', wrong),
      await from().send('POST /api/auth/sign-in/email', unknown),
    ]
    expect(answers.map(({ status }) => status)).toEqual([401, 401])
    expect(answers[0]?.body).toEqual(answers[1]?.body ?? {})
  })

  test('signing up with a taken address reveals nothing; its owner receives a mail', async () => {
    await rested()
    const email = newEmail()
    await signUp(gateway, sql, email)
    const again = from()
    const taken = await again.send('POST /api/auth/sign-up/email', { email, password, name: 'Eve' })
    const fresh = await from().send('POST /api/auth/sign-up/email', {
      email: newEmail(),
      password,
      name: 'Eve',
    })
    expect([taken.status, Object.keys(taken.body)]).toEqual([200, Object.keys(fresh.body)])
    const own = { id: '', email: '', createdAt: '', updatedAt: '' }
    expect({ ...Object(taken.body['user']), ...own }).toEqual({
      ...Object(fresh.body['user']),
      ...own,
    })
    expect((await again.send(keys)).status).toBe(401)
    const [{ subject } = { subject: '' }] =
      await sql`select subject from mail where recipient = ${email} order by id desc`
    expect(subject).toBe('You already have an account')
  })

  test('a forgotten one is replaced by a link, which ends all sessions and works once', async () => {
    await rested()
    const email = newEmail()
    const before = await signUp(gateway, sql, email)
    const browser = from()
    await browser.send('POST /api/auth/request-password-reset', { email, redirectTo: '/reset' })
    const [link = ''] = await linksFor(sql, email)
    const { location } = await browser.send(`GET ${link}`)
    const token = new URL(location ?? '', gateway.url).searchParams.get('token') ?? ''
    const reset = { token, newPassword: 'the new long password' }
    expect((await browser.send('POST /api/auth/reset-password', reset)).status).toBe(200)
    expect((await browser.send('POST /api/auth/reset-password', reset)).status).toBe(400)
    expect((await before.send(keys)).status).toBe(401)
    const entered = { email, password: 'the new long password' }
    expect((await browser.send('POST /api/auth/sign-in/email', entered)).status).toBe(200)
    expect((await browser.send('POST /api/auth/sign-in/email', { email, password })).status).toBe(
      401,
    )
  })

  test('are kept as a hash', async () => {
    const rows: { password: string }[] =
      await sql`select password from auth_account where password is not null`
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.filter((row) => !row.password.startsWith('$argon2id$'))).toEqual([])
  })

  test('have tries that are limited', async () => {
    await rested()
    const email = newEmail()
    const statuses: number[] = []
    for (let count = 0; count < 6; count++) {
      // What a client says of its address does not count.
      const headers = {
        'x-tollgate-address': `192.0.2.${count}`,
        'x-forwarded-for': `192.0.2.${count}`,
      }
      const wrong = { email, password: 'another long password' }
      statuses.push((await from().send('POST /api/auth/sign-in/email', wrong, headers)).status)
    }
    expect(statuses.slice(0, 3)).toEqual([401, 401, 401])
    expect(statuses.at(-1)).toBe(429)
    await rested()
  })
})

describe('a session', () => {
  test('has the permissions of its account and is distinguished from keys', async () => {
    await rested()
    const browser = await signUp(gateway, sql, newEmail())
    const made = await browser.send('POST /api/organizations', { name: 'Of a session' })
    expect(made.status).toBe(201)
    // Models are called with keys.
    expect((await browser.send('GET /v1/models')).status).toBe(401)
  })

  test('changes nothing for the pages of another site', async () => {
    await rested()
    const browser = await signUp(gateway, sql, newEmail())
    for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }]) {
      const refused = await browser.send('POST /api/organizations', { name: 'Not mine' }, headers)
      expect([refused.status, refused.body['error']]).toMatchObject([
        403,
        { code: 'insufficient_permissions', details: { required: ['same_origin'], current: [] } },
      ])
    }
  })

  test('counts only without a key in the header', async () => {
    await rested()
    const browser = await signUp(gateway, sql, newEmail())
    const { key, userId } = await gateway.customer()
    const { status } = await browser.send(keys, undefined, { authorization: `Bearer ${key}` })
    expect(status).toBe(200)
    const headers = { authorization: 'Bearer sk-tg-wrong' }
    const refused = await browser.send(keys, undefined, headers)
    expect([refused.status, userId.startsWith('user_')]).toEqual([401, true])
  })

  test('ends when it is signed out, revoked, or its account suspended', async () => {
    await rested()
    const email = newEmail()
    const one = await signUp(gateway, sql, email)
    const other = from()
    await other.send('POST /api/auth/sign-in/email', { email, password })
    const third = from()
    await third.send('POST /api/auth/sign-in/email', { email, password })
    await one.send('POST /api/auth/sign-out', {})
    expect((await one.send(keys)).status).toBe(401)
    await other.send('POST /api/auth/revoke-other-sessions', {})
    expect((await third.send(keys)).status).toBe(401)
    expect((await other.send(keys)).status).toBe(200)
    const [user] = await sql`select id from users where email = ${email}`
    await gateway.admin('POST', `/users/${user.id}/suspend`, { reason: 'A test.' })
    expect((await other.send(keys)).status).toBe(401)
    await rested()
    const { status } = await from().send('POST /api/auth/sign-in/email', { email, password })
    expect(status).toBe(403)
  })

  test('without our signature is rejected, even with the right token', async () => {
    await rested()
    const email = newEmail()
    await signUp(gateway, sql, email)
    const [row] = await sql`
      select token from auth_session join users on users.id = user_id where email = ${email}`
    for (const value of [row.token, `${row.token}.`, `${row.token}.AAAA`]) {
      const forged = from()
      forged.cookies.set('tollgate.session_token', value)
      expect((await forged.send(keys)).status).toBe(401)
    }
  })
})

describe('an operator', () => {
  const users = 'GET /api/admin/users'

  test('by session has the rights of the operator key; for others the paths do not exist', async () => {
    await rested()
    const email = newEmail()
    const browser = await signUp(gateway, sql, email)
    expect((await browser.send(users)).status).toBe(404)
    const [user] = await sql`select id from users where email = ${email}`
    await gateway.admin('PUT', `/users/${user.id}`, { is_operator: true })
    expect((await browser.send(users)).status).toBe(200)
    const evil = { origin: 'https://evil.example' }
    const refused = await browser.send('POST /api/admin/users', { email: newEmail() }, evil)
    expect(refused.status).toBe(403)
  })

  test('is appointed by another operator, and the session shows it; accounts cannot appoint themselves', async () => {
    await rested()
    const [email, forged] = [newEmail(), newEmail()]
    const wish = { isOperator: true, is_operator: true }
    const sign = { email: forged, password, name: 'Eve', ...wish }
    await from().send('POST /api/auth/sign-up/email', sign)
    const browser = await signUp(gateway, sql, email)
    const changed = await browser.send('POST /api/auth/update-user', { name: 'Eve', ...wish })
    expect(changed.status).toBe(400)
    const rows = await sql`select is_operator from users where email in (${email}, ${forged})`
    expect(rows.map((row: { is_operator: boolean }) => row.is_operator)).toEqual([false, false])
    const sessionUser = async () => (await browser.send('GET /api/auth/get-session')).body['user']
    expect(await sessionUser()).toMatchObject({ isOperator: false })
    await sql`update users set is_operator = true where email = ${email}`
    expect(await sessionUser()).toMatchObject({ isOperator: true })
  })

  test('signs in the first time by the link that tollgate sign-in-link prints, once', async () => {
    const link = await operatorLink(gateway)
    const browser = from()
    const { status } = await browser.send(`GET ${link}`)
    expect(status).toBe(302)
    expect((await browser.send(users)).status).toBe(200)
    const again = from()
    await again.send(`GET ${link}`)
    expect((await again.send(users)).status).toBe(404)
  })
})

test('an account that an operator creates receives a link that signs in once', async () => {
  const email = newEmail()
  await gateway.admin('POST', '/users', { email })
  const [link = ''] = await linksFor(sql, email)
  const [browser, other] = [from(), from()]
  await browser.send(`GET ${link}`)
  await other.send(`GET ${link}`)
  expect([(await browser.send(keys)).status, (await other.send(keys)).status]).toEqual([200, 401])
})

describe('sign-up permissions', () => {
  test.each(['closed', 'invite'])('rejects sign-ups where it is %j', async (mode) => {
    await rested()
    await gateway.admin('PUT', '/config', { sign_up: mode })
    const email = newEmail()
    const fields = { email, password, name: 'A' }
    const refused = await from().send('POST /api/auth/sign-up/email', fields)
    expect([refused.status, refused.body['code']]).toEqual([403, 'SIGN_UP_CLOSED'])
    await gateway.admin('PUT', '/config', { sign_up: 'open' })
    expect(await sql`select id from users where email = ${email}`).toHaveLength(0)
  })
})

describe('the pages of the dashboard', () => {
  const html = { accept: 'text/html' }

  test('forbid loading from other origins, on every path', async () => {
    for (const path of ['/', '/settings/security', '/no/such/page']) {
      const response = await fetch(`${gateway.url}${path}`, { headers: html })
      expect(response.status).toBe(200)
      expect(response.headers.get('content-security-policy')).toContain("default-src 'self'")
      expect(response.headers.get('x-frame-options')).toBe('DENY')
      expect(await response.text()).toContain('<div id="root">')
    }
  })

  test.each(['/api/nothing', '/v1/nothing', '/assets/nothing.js', '/assets/index.html'])(
    'are not served as %s, also for a browser',
    async (path) => {
      const response = await fetch(`${gateway.url}${path}`, { headers: html })
      expect(response.status).toBe(404)
      expect(response.headers.get('content-type')).toContain('application/json')
    },
  )

  test('have files that are kept for good, and come compressed', async () => {
    const page = await (await fetch(gateway.url, { headers: html })).text()
    const [, path = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(page) ?? []
    const response = await fetch(`${gateway.url}${path}`, {
      headers: { 'accept-encoding': 'gzip' },
    })
    expect(response.headers.get('cache-control')).toContain('immutable')
    expect(response.headers.get('content-encoding')).toBe('gzip')
    expect((await response.text()).length).toBeGreaterThan(100_000)
  })
})
