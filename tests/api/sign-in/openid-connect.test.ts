import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import {
  beginSignIn,
  createIdentityProviderFixture,
  endSignIn,
  isSignedIn,
  type IdentityProviderFixture,
} from './identity-provider-fixture'
import { eventually } from '../../../server/testing/eventually'
import { codeOf } from '../../../server/testing/auth/authenticator-app'
import { enableFactor } from '../../harness/authenticator-app'
import { Browser, signUp } from '../../harness/browser-session'
import {
  CertifiedProvider,
  ProviderBrowser,
} from '../../harness/identity-providers/certified-provider'

/** Source: contract 2.5. Sign-in at a certified provider; forged.test.ts has what is rejected. */

let provider: CertifiedProvider
let fixture: IdentityProviderFixture
/** The groups of the people at the provider. */
const groups = new Map<string, string[]>()

beforeAll(async () => {
  provider = await CertifiedProvider.open()
  fixture = await createIdentityProviderFixture(provider, {
    OIDC_SCOPES: 'openid email profile groups',
    OIDC_OPERATOR_CLAIM: 'groups',
    OIDC_OPERATOR_VALUES: 'admins,owners',
    OIDC_SUPPORT_VALUES: 'desk',
    OIDC_FINANCE_VALUES: 'books',
    // The provider's own policy counts for its accounts.
    SIGNUP: 'closed',
  })
  provider.serve({
    gatewayUrl: fixture.gatewayUrl,
    claimsOf: (login) => ({
      email: `${login}@example.com`,
      email_verified: true,
      name: `The person ${login}`,
      groups: groups.get(login) ?? [],
    }),
  })
})
afterAll(async () => {
  await fixture[Symbol.asyncDispose]()
  provider[Symbol.dispose]()
})
beforeEach(async () => {
  await fixture.sql`delete from auth_rate_limit`
})

/** Signs in as a person, in a new browser and a new one at the provider unless given. */
async function enter(login: string, there = new ProviderBrowser()) {
  const browser = new Browser(fixture.gateway)
  const ending = await there.signIn((await beginSignIn(browser)).href, login)
  return { browser, there, location: await endSignIn(browser, ending) }
}

async function accountsOf(login: string): Promise<Record<string, unknown>[]> {
  const rows = await fixture.sql`
    select id, display_name, email_verified, is_operator from users
    where email = ${`${login}@example.com`}`
  return [...rows].map((row) => ({ ...row }))
}

test('the first sign-in creates the account, and the next one finds it', async () => {
  const first = await enter('ada')
  expect([first.location, await isSignedIn(first.browser)]).toEqual(['/keys', true])
  const created = await accountsOf('ada')
  expect(created).toMatchObject([
    { display_name: 'The person ada', email_verified: true, is_operator: false },
  ])
  const second = await enter('ada')
  expect(await isSignedIn(second.browser)).toBe(true)
  expect(await accountsOf('ada')).toEqual(created)
})

test('no token of the provider is stored', async () => {
  await enter('bob')
  const [row] = await fixture.sql`
    select access_token, refresh_token, id_token from auth_account where account_id like ${'% bob'}`
  expect({ ...row }).toEqual({ access_token: null, refresh_token: null, id_token: null })
})

test('a sign-in requests a code with state, nonce and a code challenge', async () => {
  const { origin, searchParams } = await beginSignIn(new Browser(fixture.gateway))
  expect(origin).toBe(provider.issuer)
  expect(Object.fromEntries(searchParams)).toEqual({
    response_type: 'code',
    client_id: 'tollgate',
    redirect_uri: `${fixture.gatewayUrl}/api/auth/callback/oidc`,
    scope: 'openid email profile groups',
    state: expect.stringMatching(/^[\w-]{32}$/),
    nonce: expect.stringMatching(/^[\w-]{32}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  })
})

test('people behind one address sign in at the same time', async () => {
  const starts = Array.from({ length: 12 }, () => beginSignIn(new Browser(fixture.gateway)))
  const origins = (await Promise.all(starts)).map(({ origin }) => origin)
  expect(new Set(origins)).toEqual(new Set([provider.issuer]))
})

test('a claim makes an operator at each sign-in, and takes the role again, as the audit log shows', async () => {
  groups.set('grace', ['admins'])
  const operator = await enter('grace')
  const users = 'GET /api/admin/users'
  expect((await operator.browser.send(users)).status).toBe(200)
  groups.set('grace', ['staff'])
  const ordinary = await enter('grace')
  expect((await ordinary.browser.send(users)).status).toBe(404)
  await eventually(async () => (await operator.browser.send(users)).status === 404)
  const [account] = await accountsOf('grace')
  const path = `/audit-trail?object_id=${String(account?.['id'])}`
  const { changes } = await fixture.gateway.admin('GET', path)
  expect(changes).toMatchObject([
    { sent: { is_operator: false, identity_provider: provider.issuer } },
    { sent: { is_operator: true, identity_provider: provider.issuer } },
  ])
})

test('a claim gives the other roles of operators too, and takes them again, as the audit log shows', async () => {
  const tickets = 'GET /api/admin/tickets'
  groups.set('hedy', ['desk', 'books'])
  const support = await enter('hedy')
  expect((await support.browser.send(tickets)).status).toBe(200)
  expect((await support.browser.send('GET /api/admin/usage')).status).toBe(403)
  groups.set('hedy', ['books'])
  const finance = await enter('hedy')
  expect((await finance.browser.send('GET /api/admin/usage')).status).toBe(200)
  expect((await support.browser.send(tickets)).status).toBe(403)
  groups.set('hedy', [])
  const ordinary = await enter('hedy')
  expect((await ordinary.browser.send(tickets)).status).toBe(404)
  const [account] = await accountsOf('hedy')
  const path = `/audit-trail?object_id=${String(account?.['id'])}`
  const { changes } = await fixture.gateway.admin('GET', path)
  expect(changes).toMatchObject(
    [null, 'finance', 'support'].map((role) => ({
      sent: { is_operator: false, operator_role: role, identity_provider: provider.issuer },
    })),
  )
})

test('an account with a second factor needs it after the provider too', async () => {
  const { browser } = await enter('kim')
  await browser.send('POST /api/auth/set-password', { newPassword: 'a long enough password' })
  const { secret } = await enableFactor(browser)
  const again = await enter('kim')
  expect(again.location).toBe('/sign-in?factor=required&to=%2Fkeys')
  expect(await isSignedIn(again.browser)).toBe(false)
  await again.browser.send('POST /api/auth/two-factor/verify-totp', { code: codeOf(secret) })
  expect(await isSignedIn(again.browser)).toBe(true)
})

test('a sign-out at the provider ends all sessions of its subject, and no others', async () => {
  const [first, other, stranger] = [await enter('lee'), await enter('lee'), await enter('max')]
  expect(await isSignedIn(other.browser)).toBe(true)
  await first.there.signOut(provider.issuer)
  await eventually(async () => !(await isSignedIn(first.browser)))
  expect([await isSignedIn(other.browser), await isSignedIn(stranger.browser)]).toEqual([
    false,
    true,
  ])
})

const idOf = async (browser: Browser): Promise<unknown> =>
  Object((await browser.send('GET /api/auth/get-session')).body['user']).id

test('an account with a password is signed in by the provider too', async () => {
  await fixture.gateway.admin('PUT', '/config', { sign_up: 'open' })
  const before = await signUp(fixture.gateway, fixture.sql, 'noa@example.com')
  const { browser } = await enter('noa')
  expect(await idOf(browser)).toBe(await idOf(before))
})
