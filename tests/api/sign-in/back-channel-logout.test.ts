import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { JWTPayload } from 'jose'
import { createForgedFixture, omitClaims, type ForgedFixture } from './forged-fixture'
import { isSignedIn } from './identity-provider-fixture'
import { client } from '../../harness/identity-providers/certified-provider'

/** Source: contract 2.5. */

let fixture: ForgedFixture

beforeAll(async () => {
  fixture = await createForgedFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(async () => {
  await fixture.sql`delete from auth_rate_limit`
})

const now = () => Math.floor(Date.now() / 1000)

const logoutClaims = (): JWTPayload => ({
  iss: fixture.provider.issuer,
  aud: client.id,
  iat: now(),
  exp: now() + 120,
  jti: crypto.randomUUID(),
  sub: 'ada',
  events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
})

async function send(token: string) {
  const response = await fetch(`${fixture.gateway.url}/api/auth/oidc/back-channel-logout`, {
    method: 'POST',
    body: new URLSearchParams({ logout_token: token }),
  })
  return { status: response.status, cache: response.headers.get('cache-control') }
}

const sign = (claims: JWTPayload) => fixture.provider.sign(claims)

test('a logout token ends the sessions of its subject', async () => {
  const { browser } = await fixture.enterWith({})
  const token = await fixture.provider.sign(logoutClaims(), { typ: 'logout+jwt' })
  expect(await send(token)).toEqual({ status: 200, cache: 'no-store' })
  expect(await isSignedIn(browser)).toBe(false)
})

test('a logout token for a session alone ends the sessions of its account', async () => {
  const { browser } = await fixture.enterWith({ claims: { sid: 'session-1' } })
  const claims = omitClaims(logoutClaims(), ['sub'])
  expect((await send(await sign({ ...claims, sid: 'session-2' }))).status).toBe(200)
  expect(await isSignedIn(browser)).toBe(true)
  expect((await send(await sign({ ...claims, sid: 'session-1' }))).status).toBe(200)
  expect(await isSignedIn(browser)).toBe(false)
})

const wrong: Readonly<Record<string, (claims: JWTPayload) => JWTPayload>> = {
  'a nonce': (claims) => ({ ...claims, nonce: 'x' }),
  'no event': (claims) => omitClaims(claims, ['events']),
  'another event': (claims) => ({ ...claims, events: { 'https://example.com/other': {} } }),
  'another issuer': (claims) => ({ ...claims, iss: 'https://evil.example' }),
  'another audience': (claims) => ({ ...claims, aud: 'another' }),
  'neither subject nor session': (claims) => omitClaims(claims, ['sub']),
  'no id': (claims) => omitClaims(claims, ['jti']),
  'an age of ten minutes': (claims) => ({ ...claims, iat: now() - 600 }),
  'no time': (claims) => omitClaims(claims, ['iat']),
}

test.each(Object.entries(wrong))('a logout token with %s is rejected', async (_, change) => {
  const { browser } = await fixture.enterWith({})
  const { status, cache } = await send(await sign(change(logoutClaims())))
  expect([status, cache, await isSignedIn(browser)]).toEqual([400, 'no-store', true])
})

test.each(['foreign', 'none', 'shared secret'] as const)(
  'a logout token with the signature %j is rejected',
  async (signing) => {
    const { browser } = await fixture.enterWith({})
    const { status } = await send(await fixture.provider.sign(logoutClaims(), { signing }))
    expect([status, await isSignedIn(browser)]).toEqual([400, true])
  },
)

test('an ID token ends no session', async () => {
  const { browser } = await fixture.enterWith({})
  const { status } = await send(await sign(fixture.provider.claimsFor('x')))
  expect([status, await isSignedIn(browser)]).toEqual([400, true])
})
