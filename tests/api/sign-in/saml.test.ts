import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createSamlFixture, issuer, type SamlFixture } from './saml-fixture'
import { codeOf } from '../../../server/testing/auth/authenticator-app'
import { enableFactor } from '../../harness/authenticator-app'
import { Browser } from '../../harness/browser-session'

/** Source: contract 2.5. Sign-in at a stand-in that signs with another library; saml-forged.test.ts has what is rejected. */

let fixture: SamlFixture

beforeAll(async () => {
  fixture = await createSamlFixture({
    SAML_OPERATOR_ATTRIBUTE: 'groups',
    SAML_OPERATOR_VALUES: 'admins',
    SAML_SUPPORT_VALUES: 'desk',
    // The provider's own policy counts for its accounts.
    SIGNUP: 'closed',
  })
})
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(async () => {
  await fixture.sql`delete from auth_rate_limit`
})

const accountsOf = async (email: string) => [
  ...(await fixture.sql`
    select id, display_name, email_verified, is_operator, operator_role from users
    where email = ${email}`),
]

test('the first sign-in creates the account, and the next one finds it by its subject', async () => {
  const first = await fixture.enter('ada@example.com')
  expect([first.location, first.isSignedIn]).toEqual(['/keys', true])
  const created = await accountsOf('ada@example.com')
  expect(created).toMatchObject([
    { display_name: 'The person ada@example.com', email_verified: true, is_operator: false },
  ])
  expect((await fixture.enter('ada@example.com')).isSignedIn).toBe(true)
  expect(await accountsOf('ada@example.com')).toEqual(created)
})

test('the public configuration names the provider and its protocol', async () => {
  const answer = await fetch(`${fixture.gateway.url}/api/public/config`)
  const { auth } = Object(await answer.json())
  expect(auth.identity_provider).toEqual({ name: 'Example Login', protocol: 'saml' })
})

test('the metadata describes the service that requests name', async () => {
  const url = `${fixture.gateway.url}/api/auth/saml/metadata`
  const answer = await fetch(url)
  expect(answer.headers.get('content-type')).toBe('application/samlmetadata+xml')
  const text = await answer.text()
  const request = await fixture.begin(new Browser(fixture.gateway))
  expect(request.destination).toBe('https://login.example.com/saml/sign-in')
  expect(text).toContain(`entityID="${request.issuer}"`)
  expect(text).toContain(`Location="${request.recipient}"`)
  expect(text).toContain('WantAssertionsSigned="true"')
})

test('signatures of the next certificate count too, so that the provider can change it', async () => {
  const { isSignedIn } = await fixture.enter('bob@example.com', { key: fixture.keys.next })
  expect(isSignedIn).toBe(true)
})

test('an attribute gives roles of operators and takes them again, as the audit log shows', async () => {
  const enter = (groups: string[]) =>
    fixture.enter('grace@example.com', {
      claims: { attributes: { email: ['grace@example.com'], groups } },
    })
  await enter(['staff', 'admins'])
  const [operator] = await accountsOf('grace@example.com')
  expect(operator).toMatchObject({ is_operator: true })
  await enter(['desk'])
  expect(await accountsOf('grace@example.com')).toMatchObject([
    { is_operator: false, operator_role: 'support' },
  ])
  await enter([])
  expect(await accountsOf('grace@example.com')).toMatchObject([
    { is_operator: false, operator_role: null },
  ])
  const path = `/audit-trail?object_id=${String(operator.id)}`
  const { changes } = await fixture.gateway.admin('GET', path)
  expect(changes).toMatchObject(
    [null, 'support', 'operator'].map((role) => ({
      sent: { operator_role: role, identity_provider: issuer },
    })),
  )
})

test('a name identifier that is a mail address counts where there is no attribute', async () => {
  const { isSignedIn } = await fixture.enter('lee@example.com', {
    claims: {
      attributes: {},
      subject: 'Lee@example.com',
      format: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
    },
  })
  expect(isSignedIn).toBe(true)
  expect(await accountsOf('lee@example.com')).toMatchObject([{ display_name: 'Lee' }])
})

test('an account with a second factor needs it after the provider too', async () => {
  const { browser } = await fixture.enter('max@example.com')
  await browser.send('POST /api/auth/set-password', { newPassword: 'a long enough password' })
  const { secret } = await enableFactor(browser)
  const again = await fixture.enter('max@example.com')
  expect([again.location, again.isSignedIn]).toEqual(['/sign-in?factor=required&to=%2Fkeys', false])
  await again.browser.send('POST /api/auth/two-factor/verify-totp', { code: codeOf(secret) })
  expect((await again.browser.send('GET /api/connections')).status).toBe(200)
})

test('accounts of a required domain sign in by the provider, and by nothing else', async () => {
  const email = 'kim@required.example'
  expect((await fixture.enter(email)).isSignedIn).toBe(true)
  const answer = await new Browser(fixture.gateway).send('POST /api/auth/sign-in/email', {
    email,
    password: 'a long enough password',
  })
  expect([answer.status, answer.body['code']]).toEqual([403, 'IDENTITY_PROVIDER_REQUIRED'])
})

test.each([
  [{ email: ['eve@elsewhere.example'] }, 'identity_provider_domain'],
  [{}, 'identity_provider_no_email'],
])('a person with the attributes %j is rejected with a reason', async (attributes, code) => {
  const entered = await fixture.enter('eve@example.com', { claims: { attributes } })
  expect([entered.location, entered.isSignedIn]).toEqual([`/sign-in?error=${code}`, false])
})
