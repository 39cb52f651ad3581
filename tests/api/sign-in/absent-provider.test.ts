import { expect, test } from 'bun:test'
import {
  beginSignIn,
  createIdentityProviderFixture,
  endSignIn,
  isSignedIn,
} from './identity-provider-fixture'
import { Browser } from '../../harness/browser-session'
import { ForgingProvider } from '../../harness/identity-providers/forging-provider'

/** Source: contract 2.5. */

const begin = (browser: Browser) =>
  browser.send('POST /api/auth/sign-in/social', { provider: 'oidc', callbackURL: '/' })

const unavailable = {
  code: 'IDENTITY_PROVIDER_UNAVAILABLE',
  message: 'Signing in by Example Login is not possible at the moment. Try again in a minute.',
}

test('a provider that is down keeps the gateway from nothing else, and works once it is back', async () => {
  using provider = await ForgingProvider.open()
  provider.next = { claims: {}, status: 503 }
  await using fixture = await createIdentityProviderFixture(provider)
  const browser = new Browser(fixture.gateway)
  const refused = await begin(browser)
  expect([refused.status, refused.body]).toEqual([503, unavailable])
  provider.next = { claims: {} }
  const { searchParams } = await beginSignIn(browser)
  const ending = new URLSearchParams({ code: 'x', state: searchParams.get('state') ?? '' })
  provider.next = { claims: {}, status: 502 }
  const path = `${fixture.gateway.url}/api/auth/callback/oidc?${ending.toString()}`
  expect(await endSignIn(browser, path)).toBe('/sign-in?error=identity_provider_unavailable')
  expect(await isSignedIn(browser)).toBe(false)
})

test.each([
  ['another issuer', { issuer: 'https://login.example.com' }],
  ['an endpoint without TLS', { token_endpoint: 'ftp://127.0.0.1/token' }],
  ['no keys', { jwks_uri: undefined }],
])('a discovery document with %s signs no account in', async (_, document) => {
  using provider = await ForgingProvider.open()
  provider.next = { claims: {}, document }
  await using fixture = await createIdentityProviderFixture(provider)
  const refused = await begin(new Browser(fixture.gateway))
  expect([refused.status, refused.body]).toEqual([503, unavailable])
})

test('an endpoint on another host is guarded: it leads to no private address', async () => {
  using provider = await ForgingProvider.open()
  using other = await ForgingProvider.open()
  provider.next = { claims: {}, document: { token_endpoint: `${other.issuer}/token` } }
  await using fixture = await createIdentityProviderFixture(provider)
  const browser = new Browser(fixture.gateway)
  const { searchParams } = await beginSignIn(browser)
  const ending = new URLSearchParams({ code: 'x', state: searchParams.get('state') ?? '' })
  const path = `${fixture.gateway.url}/api/auth/callback/oidc?${ending.toString()}`
  expect(await endSignIn(browser, path)).toBe('/sign-in?error=identity_provider_unavailable')
  expect(other.requests).toEqual([])
})
