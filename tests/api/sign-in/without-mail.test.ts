import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { operatorLink } from './operator-link'
import { Browser, linksFor, password, signUp } from '../../harness/browser-session'
import { openDatabase } from '../../harness/database'
import { mailEnvironment } from '../../harness/mail-environment'
import { problem, sendOperatorRequest } from '../../harness/operator'
import { runCommand } from '../../harness/run-command'
import { startGateway, type Gateway } from '../../harness/server'
import { sendRequest } from '../../harness/http'

/** Source: contract 2.5, 9.2. */

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
beforeEach(async () => {
  await sql`delete from auth_rate_limit`
})

let people = 0
const newEmail = () => `person-${(people += 1)}@example.com`
const own = 'GET /api/connections'
const open = () => new Browser(gateway)
const enter = (email: string, withPassword = password) =>
  open().send('POST /api/auth/sign-in/email', { email, password: withPassword })
const idOf = async (email: string): Promise<string> => {
  const [user] = await sql`select id from users where email = ${email}`
  return user.id
}
const featuresOf = async ({ url }: Pick<Gateway, 'url'>) => {
  const response = await fetch(`${url}/api/public/config`)
  return Object(await response.json()).features
}

/** An account with an unconfirmed address. */
async function newUnconfirmed(email = newEmail()) {
  const fields = { email, password, name: 'Ada' }
  const { status, body } = await open().send('POST /api/auth/sign-up/email', fields)
  expect(status).toBe(200)
  return { email, id: await idOf(email), answer: body }
}

/** The ways by which an operator gets a link for an account. */
const ways: Readonly<Record<string, (account: { email: string; id: string }) => Promise<string>>> =
  {
    'the command line, by address': ({ email }) => operatorLink(gateway, email.toUpperCase()),
    'the command line, by id': ({ id }) => operatorLink(gateway, id),
    async 'the operator API'({ id }) {
      const { link } = await gateway.admin('POST', `/users/${id}/sign-in-link`)
      return String(link)
    },
  }

describe('N8: without a mail server', () => {
  test('pages report it, and answers that promise a mail name the operator', async () => {
    expect(await featuresOf(gateway)).toMatchObject({ email: false })
    const { email, answer } = await newUnconfirmed()
    const asking = { email, callbackURL: '/', redirectTo: '/reset-password' }
    const answers = [
      answer,
      (await open().send('POST /api/auth/sign-in/magic-link', asking)).body,
      (await open().send('POST /api/auth/request-password-reset', asking)).body,
      (await open().send('POST /api/auth/send-verification-email', asking)).body,
    ]
    for (const body of answers) {
      expect(body['message']).toBe(
        'This service sends no e-mail. Ask its operator for a sign-in link.',
      )
    }
  })

  test.each(Object.entries(ways))(
    'an account signs in by a link of %s, sets a password, and signs in by it',
    async (_, makeLink) => {
      const account = await newUnconfirmed()
      const refused = await enter(account.email)
      expect([refused.status, refused.body]).toEqual([
        403,
        { code: 'EMAIL_NOT_VERIFIED', message: expect.stringContaining('Ask its operator') },
      ])
      const link = await makeLink(account)
      const browser = open()
      expect((await browser.send(`GET ${link}`)).status).toBe(302)
      expect((await browser.send(own)).status).toBe(200)
      // Once.
      const late = open()
      await late.send(`GET ${link}`)
      expect((await late.send(own)).status).toBe(401)
      // The person who signed up may not own the address.
      expect((await enter(account.email)).status).toBe(401)
      const path = 'POST /api/auth/set-password'
      const chosen = { newPassword: 'a password of the owner' }
      expect((await open().send(path, chosen)).status).toBe(401)
      expect((await browser.send(path, { newPassword: 'short' })).status).toBe(400)
      expect((await browser.send(path, chosen)).status).toBe(200)
      expect((await browser.send(path, { newPassword: 'another password' })).body).toMatchObject({
        code: 'PASSWORD_ALREADY_SET',
      })
      expect((await enter(account.email, chosen.newPassword)).status).toBe(200)
    },
  )

  test('a first password is set in a session of the last hour only', async () => {
    const account = await newUnconfirmed()
    const browser = open()
    await browser.send(`GET ${await operatorLink(gateway, account.id)}`)
    await sql`
      update auth_session set created_at = created_at - interval '61 minutes'
      where user_id = ${account.id}`
    const { status, body } = await browser.send('POST /api/auth/set-password', {
      newPassword: password,
    })
    expect([status, body]).toMatchObject([400, { code: 'SESSION_NOT_FRESH' }])
  })

  test('an address that is not confirmed claims no invitation, its owner does', async () => {
    const owner = await gateway.customer({ permissions: ['admin'] })
    const made = await sendRequest(gateway, {
      path: '/api/organizations',
      method: 'POST',
      key: owner.key,
      body: { name: 'Theirs' },
    })
    const email = newEmail()
    const invited = await sendRequest(gateway, {
      path: `/api/organizations/${String(made.body['id'])}/members/invite`,
      method: 'POST',
      key: owner.key,
      body: { email, role: 'member' },
    })
    expect(invited.status).toBe(201)
    await newUnconfirmed(email)
    // The person who typed the address has no session, by none of what they know.
    const stranger = open()
    await stranger.send('POST /api/auth/sign-in/email', { email, password })
    expect((await stranger.send('GET /api/organizations/invitations')).status).toBe(401)
    const browser = open()
    await browser.send(`GET ${await operatorLink(gateway, email)}`)
    const { body } = await browser.send('GET /api/organizations/invitations')
    expect(body['invitations']).toHaveLength(1)
    await stranger.send('POST /api/auth/sign-in/email', { email, password })
    expect((await stranger.send(own)).status).toBe(401)
  })
})

const run = (...args: string[]) =>
  runCommand('sign-in-link', { DATA_DIR: gateway.dataDir, BASE_URL: gateway.url }, ...args)
const ask = (id: string) => sendOperatorRequest(gateway, `POST /users/${id}/sign-in-link`)

describe('N8: a link of the command line', () => {
  test('names its account for programs', async () => {
    const { email, id } = await newUnconfirmed()
    const { out, code } = await run(email, '--json')
    expect([code, JSON.parse(out)]).toEqual([
      0,
      {
        link: expect.stringContaining(`${gateway.url}/api/auth/magic-link/verify?token=`),
        account: id,
        expires_at: expect.stringMatching(/Z$/),
      },
    ])
  })

  test('is rejected for an unknown account, and for a suspended one', async () => {
    const unknown = await run('nobody@example.com')
    expect([unknown.code, unknown.out, unknown.err]).toEqual([
      1,
      '',
      expect.stringContaining('no account has the id or the address nobody@example.com'),
    ])
    const { email, id } = await newUnconfirmed()
    await gateway.admin('POST', `/users/${id}/suspend`, { reason: 'A test.' })
    const suspended = await run(email)
    expect([suspended.code, suspended.out, suspended.err]).toEqual([
      1,
      '',
      expect.stringContaining('is suspended'),
    ])
    expect((await run(email, 'and', 'more')).code).toBe(2)
  })
})

const hourMs = 3_600_000

describe('N8: a link of the operator API', () => {
  test('is valid for an hour, ends the one before, and is in the audit log without its token', async () => {
    const { id } = await newUnconfirmed()
    const begunMs = Date.now()
    const answers = [await ask(id), await ask(id)]
    const [first = '', second = ''] = answers.map(({ body }) => String(body['link']))
    const { body, status } = answers[1] ?? { body: {}, status: 0 }
    expect([status, Object.keys(body)]).toEqual([200, ['link', 'expires_at']])
    const endsMs = Date.parse(String(body['expires_at']))
    expect(endsMs).toBeWithin(begunMs + hourMs, Date.now() + hourMs + 1)
    const statuses: number[] = []
    for (const link of [first, second]) {
      const browser = open()
      await browser.send(`GET ${link}`)
      statuses.push((await browser.send(own)).status)
    }
    expect(statuses).toEqual([401, 200])
    const { changes } = await gateway.admin('GET', `/audit-trail?object_id=${id}`)
    expect(changes).toHaveLength(2)
    for (const link of [first, second]) {
      const token = new URL(link).searchParams.get('token') ?? ''
      expect(JSON.stringify(changes)).not.toContain(token)
    }
  })

  test('is limited by account', async () => {
    const [{ id }, other] = [await newUnconfirmed(), await newUnconfirmed()]
    const statuses: number[] = []
    for (let count = 0; count < 11; count++) statuses.push((await ask(id)).status)
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429])
    const refused = await ask(id)
    expect(problem(refused)).toEqual([429, null, undefined])
    expect((await ask(other.id)).status).toBe(200)
  })

  test('is rejected for an unknown account, a suspended one, and for all but operators', async () => {
    const { id } = await newUnconfirmed()
    const customer = await gateway.customer({ permissions: ['admin'] })
    const path = `/api/admin/users/${id}/sign-in-link`
    const foreign = await sendRequest(gateway, { path, method: 'POST', key: customer.key })
    expect(foreign.status).toBe(404)
    await gateway.admin('POST', `/users/${id}/suspend`, { reason: 'A test.' })
    expect(problem(await ask(id))).toEqual([400, null, 'wrong_state'])
    expect((await ask('user_00000000000000000000000000')).status).toBe(404)
  })
})

test('N8: with a mail server answers match the library’s', async () => {
  await using withMail = await startGateway({ environment: mailEnvironment })
  expect(await featuresOf(withMail)).toMatchObject({ email: true })
  const browser = new Browser(withMail)
  const email = newEmail()
  await browser.send('POST /api/auth/sign-up/email', { email, password, name: 'Ada' })
  const { status, body } = await browser.send('POST /api/auth/sign-in/email', { email, password })
  expect([status, body]).toEqual([
    403,
    { code: 'EMAIL_NOT_VERIFIED', message: 'Email not verified' },
  ])
})

describe('finding S32: a foreign Host', () => {
  const foreign = [
    'https://evil.example',
    'https://evil.example/x',
    '//evil.example/',
    'javascript:1',
  ]

  test.each([
    ['request-password-reset', 'redirectTo'],
    ['sign-in/magic-link', 'callbackURL'],
    ['sign-in/magic-link', 'newUserCallbackURL'],
    ['sign-in/magic-link', 'errorCallbackURL'],
    ['send-verification-email', 'callbackURL'],
    ['sign-up/email', 'callbackURL'],
  ])('puts no foreign address into the mail of %s, as %s', async (path, field) => {
    const email = newEmail()
    if (path === 'send-verification-email') await newUnconfirmed(email)
    else if (path !== 'sign-up/email') await signUp(gateway, sql, email)
    await sql`delete from mail where recipient = ${email}`
    for (const to of foreign) {
      await sql`delete from auth_rate_limit`
      const response = await fetch(`${gateway.url}/api/auth/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', host: 'evil.example' },
        body: JSON.stringify({ email, password, name: 'Ada', [field]: to }),
      })
      expect([to, response.status]).toEqual([to, 403])
    }
    expect(await sql`select id from mail where recipient = ${email}`).toHaveLength(0)
  })

  test('leaves the own origin and paths as they are', async () => {
    const email = newEmail()
    await signUp(gateway, sql, email)
    const base = gateway.url.replace('127.0.0.1', 'localhost')
    for (const redirectTo of ['/reset-password', `${base}/reset-password`]) {
      await open().send('POST /api/auth/request-password-reset', { email, redirectTo })
      const [link = ''] = await linksFor(sql, email)
      expect(new URL(link).origin).toBe(base)
      expect(new URL(link).searchParams.get('callbackURL')).toBe(redirectTo)
    }
  })
})
