import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createForgedFixture, type Forged, type ForgedFixture } from './forged-fixture'
import { beginSignIn, isSignedIn } from './identity-provider-fixture'
import { operatorLink } from './operator-link'
import { Browser, password, signUp } from '../../harness/browser-session'
import { client } from '../../harness/identity-providers/certified-provider'
import type { ForgingProvider } from '../../harness/identity-providers/forging-provider'

/** Source: contract 2.5. */

let fixture: ForgedFixture
let provider: ForgingProvider

beforeAll(async () => {
  fixture = await createForgedFixture()
  provider = fixture.provider
})
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(async () => {
  await fixture.sql`delete from auth_rate_limit`
  provider.next = { claims: {} }
})

const enterWith = (forged: Forged) => fixture.enterWith(forged)

const countUsers = async () => {
  const [row] = await fixture.sql`select count(*)::int as count from users`
  return row.count
}

test('a right token signs in', async () => {
  expect(await enterWith({})).toMatchObject({ location: '/keys', isSignedIn: true })
})

test('the client proves itself with its secret and the code verifier of the sign-in', async () => {
  provider.requests.length = 0
  await enterWith({})
  const exchange = provider.requests.find(({ line }) => line === 'POST /token')
  const { grant_type, code, code_verifier, client_secret } = Object.fromEntries(
    new URLSearchParams(exchange?.body),
  )
  expect([grant_type, code, code_verifier?.length, client_secret]).toEqual([
    'authorization_code',
    'a-code',
    128,
    undefined,
  ])
  const [, credentials = ''] = exchange?.authorization?.split(' ') ?? []
  const [id, secret = ''] = Buffer.from(credentials, 'base64').toString().split(':')
  expect([id, decodeURIComponent(secret.replaceAll('+', ' '))]).toEqual([client.id, client.secret])
})

const now = () => Math.floor(Date.now() / 1000)

/** Sign-ins that are refused, with the code that the sign-in page gets. */
const rejected: Readonly<Record<string, [() => Forged, string]>> = {
  'another nonce': [() => ({ claims: { nonce: 'another' } }), 'identity_provider_failed'],
  'no nonce': [() => ({ without: ['nonce'] }), 'identity_provider_failed'],
  'another issuer': [
    () => ({ claims: { iss: 'https://evil.example' } }),
    'identity_provider_failed',
  ],
  'another audience': [() => ({ claims: { aud: 'another' } }), 'identity_provider_failed'],
  'another client beside this one': [
    () => ({ claims: { aud: [client.id, 'another'] } }),
    'identity_provider_failed',
  ],
  'another authorized party': [() => ({ claims: { azp: 'another' } }), 'identity_provider_failed'],
  'an end that is over': [() => ({ claims: { exp: now() - 600 } }), 'identity_provider_failed'],
  'no end': [() => ({ without: ['exp'] }), 'identity_provider_failed'],
  'no subject': [() => ({ without: ['sub'] }), 'identity_provider_failed'],
  'an empty subject': [() => ({ claims: { sub: ' ' } }), 'identity_provider_failed'],
  'a signature by another key': [() => ({ signing: 'foreign' }), 'identity_provider_failed'],
  'no signature': [() => ({ signing: 'none' }), 'identity_provider_failed'],
  'a signature by the client secret': [
    () => ({ signing: 'shared secret' }),
    'identity_provider_failed',
  ],
  'an unconfirmed address': [
    () => ({ claims: { email_verified: false } }),
    'identity_provider_email_unverified',
  ],
  'an address that may be confirmed': [
    () => ({ without: ['email_verified'], userInfo: { sub: 'ada' } }),
    'identity_provider_email_unverified',
  ],
  'no address': [
    () => ({ without: ['email'], userInfo: { sub: 'ada' } }),
    'identity_provider_no_email',
  ],
  'userinfo about another subject': [
    () => ({ without: ['email'], userInfo: { sub: 'eve', email: 'ada@example.com' } }),
    'identity_provider_failed',
  ],
  'a domain that is not listed': [
    () => ({ claims: { email: 'ada@elsewhere.example' } }),
    'identity_provider_domain',
  ],
  'a subdomain of a listed one': [
    () => ({ claims: { email: 'ada@evil.example.com' } }),
    'identity_provider_domain',
  ],
  'an address that hides its domain': [
    () => ({ claims: { email: 'ada@elsewhere.example@example.com' } }),
    'identity_provider_no_email',
  ],
  'an issuer of another provider in the answer': [
    () => ({ query: { iss: 'https://evil.example' } }),
    'issuer_mismatch',
  ],
  'a refusal by the provider': [() => ({ query: { error: 'access_denied' } }), 'access_denied'],
}

describe('a sign-in is rejected with', () => {
  test.each(Object.entries(rejected))('%s', async (_, [forge, code]) => {
    const before = await countUsers()
    const { location, isSignedIn: signedIn } = await enterWith(forge())
    const { pathname, searchParams } = new URL(location ?? '', fixture.gateway.url)
    expect([pathname, searchParams.get('error'), signedIn]).toEqual(['/sign-in', code, false])
    expect(await countUsers()).toBe(before)
  })

  test('a state of another browser, or an unknown state', async () => {
    const { searchParams } = await beginSignIn(new Browser(fixture.gateway))
    const state = searchParams.get('state') ?? ''
    const foreign = await enterWith({ query: { state } })
    expect([foreign.location, foreign.isSignedIn]).toEqual(['/sign-in?error=state_mismatch', false])
    const unknown = await enterWith({ query: { state: 'x'.repeat(32) } })
    expect([unknown.location, unknown.isSignedIn]).toEqual(['/sign-in?error=state_mismatch', false])
  })

  test('an ID token that a client sends by itself', async () => {
    const claims = provider.claimsFor('a-nonce')
    const idToken = { token: await provider.sign(claims), nonce: 'a-nonce' }
    const browser = new Browser(fixture.gateway)
    const { status } = await browser.send('POST /api/auth/sign-in/social', {
      provider: 'oidc',
      idToken,
    })
    expect([status, await isSignedIn(browser)]).toEqual([404, false])
  })
})

test('claims that the token lacks come from userinfo', async () => {
  const userInfo = { sub: 'ada', email: 'ada@example.com', email_verified: true }
  const answer = await enterWith({ without: ['email', 'email_verified'], userInfo })
  expect(answer).toMatchObject({ location: '/keys', isSignedIn: true })
})

test('the same subject of another issuer is another person', async () => {
  await enterWith({ claims: { sub: 'carol', email: 'carol@example.com' } })
  const [row] =
    await fixture.sql`select account_id from auth_account where account_id like ${'%carol'}`
  expect(row.account_id).toBe(`${provider.issuer} carol`)
})

test('a linked account of a domain that the provider may not sign in stays closed to it', async () => {
  const claims = { sub: 'dora', email: 'dora@example.com' }
  await enterWith({ claims })
  await fixture.sql`update users set email = 'dora@elsewhere.example' where email = 'dora@example.com'`
  expect(await enterWith({ claims })).toMatchObject({
    location: '/sign-in?error=identity_provider_domain',
    isSignedIn: false,
  })
})

test('the password of an unconfirmed sign-up is removed', async () => {
  const email = 'emil@example.com'
  await new Browser(fixture.gateway).send('POST /api/auth/sign-up/email', {
    email,
    password,
    name: 'Not Emil',
  })
  expect(await enterWith({ claims: { sub: 'emil', email } })).toMatchObject({ isSignedIn: true })
  const stranger = new Browser(fixture.gateway)
  const { status } = await stranger.send('POST /api/auth/sign-in/email', { email, password })
  expect([status, await isSignedIn(stranger)]).toEqual([401, false])
})

describe('accounts of a required domain', () => {
  const email = 'ada@required.example'
  const claims = { sub: 'required-ada', email }

  test('sign in by the provider', async () => {
    expect(await enterWith({ claims })).toMatchObject({ location: '/keys', isSignedIn: true })
  })

  test.each([
    ['sign-in/email', { password }],
    ['sign-up/email', { password, name: 'Ada' }],
    ['sign-in/magic-link', { callbackURL: '/' }],
    ['request-password-reset', { redirectTo: '/reset-password' }],
    ['send-verification-email', { callbackURL: '/' }],
  ])('are rejected by %s, in any case of letters', async (path, body) => {
    for (const address of [email, 'Ada@REQUIRED.example']) {
      const browser = new Browser(fixture.gateway)
      const answer = await browser.send(`POST /api/auth/${path}`, { email: address, ...body })
      expect([answer.status, answer.body]).toEqual([
        403,
        {
          code: 'IDENTITY_PROVIDER_REQUIRED',
          message: 'Accounts of required.example sign in by Example Login only.',
        },
      ])
    }
  })

  test('are not signed in by a link of an operator, which leads to the sign-in page', async () => {
    await enterWith({ claims })
    const { pathname, search } = new URL(await operatorLink(fixture.gateway, email))
    const browser = new Browser(fixture.gateway)
    const { location } = await browser.send(`GET ${pathname}${search}`)
    expect([location, await isSignedIn(browser)]).toEqual([
      '/sign-in?error=identity_provider_required',
      false,
    ])
  })

  test('keep their session when it is replaced', async () => {
    const { browser } = await enterWith({ claims })
    await browser.send('POST /api/auth/set-password', { newPassword: password })
    const changed = await browser.send('POST /api/auth/change-password', {
      currentPassword: password,
      newPassword: password,
      revokeOtherSessions: true,
    })
    expect([changed.status, await isSignedIn(browser)]).toEqual([200, true])
  })
})

test('an account by e-mail and an account by the provider are one', async () => {
  const email = 'finn@example.com'
  await signUp(fixture.gateway, fixture.sql, email)
  await enterWith({ claims: { sub: 'finn', email: 'FINN@example.com' } })
  const [row] =
    await fixture.sql`select count(*)::int as count from users where lower(email) = ${email}`
  expect(row.count).toBe(1)
})
