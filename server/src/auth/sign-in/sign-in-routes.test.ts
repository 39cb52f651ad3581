import { afterAll, afterEach, beforeAll, describe, expect, mock, spyOn, test } from 'bun:test'
import { sql } from 'kysely'
import { checkNewSession, sessionRules } from './second-factor'
import { createSignIn, type SignIn } from './sign-in'
import { createIdentityProvider } from './identity-provider/identity-provider'
import { openTestDatabase } from '../../../testing/db/database'
import { codeOf } from '../../../testing/auth/authenticator-app'
import { otherServices } from '../../../testing/auth/other-services'
import { SignInClient } from '../../../testing/auth/sign-in-client'
import type { Database } from '../../platform/db/database'

/** Endpoints that create no session for an account with a second factor: each was looked at. */
const withoutSession = [
  '/account-info',
  '/change-email',
  '/delete-user',
  '/delete-user/callback',
  '/error',
  '/get-access-token',
  '/get-session',
  '/link-social',
  '/list-accounts',
  '/list-sessions',
  '/oidc/back-channel-logout',
  '/ok',
  '/refresh-token',
  '/request-password-reset',
  '/reset-password',
  '/reset-password/:token',
  '/revoke-other-sessions',
  '/revoke-session',
  '/revoke-sessions',
  '/send-verification-email',
  '/set-password',
  '/sign-in/magic-link',
  '/sign-out',
  // A new account has no second factor yet.
  '/sign-up/email',
  // They create one for accounts without a second factor, before it is enabled and after it was disabled.
  '/two-factor/disable',
  '/two-factor/enable',
  '/two-factor/generate-backup-codes',
  '/two-factor/get-totp-uri',
  // Codes by mail are not configured.
  '/two-factor/send-otp',
  '/two-factor/verify-otp',
  '/unlink-account',
  '/update-session',
  '/update-user',
  '/verify-password',
]

const stack = new AsyncDisposableStack()
const email = 'ada@example.com'
let database: Database
let signIn: SignIn
let secret: string
const reported: unknown[] = []
/** The session that enabled the second factor, and one from before. */
let first: SignInClient
let before: SignInClient

const open = () => new SignInClient(signIn, database.query)

beforeAll(async () => {
  database = await openTestDatabase(stack)
  signIn = createSignIn({
    db: database.query,
    secret: 'the secret of a test, which is long enough',
    address: 'http://localhost:8080',
    providers: {
      github: { clientId: 'client', clientSecret: 'secret' },
      google: { clientId: 'client', clientSecret: 'secret' },
    },
    signUp: () => 'open',
    identityProvider: createIdentityProvider({
      config: {
        issuer: 'https://login.example.com',
        clientId: 'client',
        clientSecret: 'secret',
        name: 'Example Login',
        scopes: ['openid'],
        domains: ['example.com'],
        requiredDomains: [],
        signUp: 'open',
        emailVerifiedClaim: 'email_verified',
        roleClaim: undefined,
      },
      db: database.query,
      send: () => Promise.reject(new Error('there is no provider')),
      setRole: () => Promise.resolve(),
      onRefusal: () => undefined,
    }),
    sendsMail: true,
    onError: (error) => void reported.push(error),
  })
  first = open()
  await first.signUp(email)
  before = open()
  await before.withPassword(email)
  secret = await first.enableFactor()
})
afterAll(() => stack.disposeAsync(), 30_000)

/** The ways to prove the first factor, by the endpoint that creates the session. */
const ways: Readonly<Record<string, (client: SignInClient) => Promise<unknown>>> = {
  '/sign-in/email': (client) => client.withPassword(email),
  '/magic-link/verify': (client) => client.withLink(email),
  async '/verify-email'(client) {
    await sql`update users set email_verified = false where email = ${email}`.execute(
      database.query,
    )
    await client.confirm(email)
  },
  '/callback/:id': (client) => client.withGitHub(),
  '/sign-in/social': (client) => client.withGoogleToken(email),
}

test('finding S25: every endpoint of the library and its plugins has a rule for accounts with a second factor', () => {
  const decided = new Set([...Object.keys(sessionRules), ...withoutSession])
  expect(new Set(signIn.paths)).toEqual(decided)
})

test('finding S25: each way in that requires the second factor is tried below', () => {
  const asking = Object.keys(sessionRules).filter((path) => sessionRules[path] === 'challenge')
  expect(Object.keys(ways).toSorted()).toEqual(asking.toSorted())
})

test.each([undefined, '/passkey/verify-authentication', '/sso/callback/:id', '/sign-up/email'])(
  'finding S25: at %j, which has no rule, an account with a second factor receives no session',
  async (path) => {
    const { id } = await open().account(email)
    const check = checkNewSession(database.query, id, { path, signedInId: id })
    await expect(check).rejects.toMatchObject({ body: { code: 'SECOND_FACTOR_REQUIRED' } })
  },
)

test('finding S25: a session of another account replaces no session of an account with a second factor', async () => {
  const { id } = await open().account(email)
  const request = { path: '/change-password', signedInId: undefined }
  const check = checkNewSession(database.query, id, request)
  await expect(check).rejects.toMatchObject({ body: { code: 'SECOND_FACTOR_REQUIRED' } })
})

test('finding S25: enabling a second factor ends the sessions from before, not its own', async () => {
  expect([await before.isSignedIn(), await first.isSignedIn()]).toEqual([false, true])
})

describe('finding S25: an account with a second factor', () => {
  afterEach(() => mock.restore())

  test.each(Object.entries(ways))('signs in by %s after its second factor only', async (_, way) => {
    await sql`delete from auth_session`.execute(database.query)
    spyOn(globalThis, 'fetch').mockImplementation(await otherServices(email))
    const client = open()
    await way(client)
    const { rows } = await sql`select from auth_session`.execute(database.query)
    expect([rows.length, client.hasSessionCookie(), await client.isSignedIn()]).toEqual([
      0,
      false,
      false,
    ])
    expect(await client.withCode('000000')).toBe(401)
    expect(await client.isSignedIn()).toBe(false)
    expect(await client.withCode(codeOf(secret))).toBe(200)
    expect(await client.isSignedIn()).toBe(true)
  })

  test.each(['/sign-in/email', '/magic-link/verify'])(
    'is not required again by %s on a trusted device, and is required on others',
    async (path) => {
      const [client, other] = [open(), open()]
      await client.withPassword(email)
      expect(await client.withCode(codeOf(secret), { trustDevice: true })).toBe(200)
      await client.signOut()
      await ways[path]?.(client)
      await ways[path]?.(other)
      expect([await client.isSignedIn(), await other.isSignedIn()]).toEqual([true, false])
    },
  )

  test('is required again on a trusted device once its password has changed', async () => {
    const [client, other] = [open(), open()]
    await client.withPassword(email)
    expect(await client.withCode(codeOf(secret), { trustDevice: true })).toBe(200)
    await other.withPassword(email)
    await other.withCode(codeOf(secret))
    expect(await other.changePassword()).toBe(200)
    await client.signOut()
    await client.withPassword(email)
    expect(await client.isSignedIn()).toBe(false)
    expect(await other.isSignedIn()).toBe(true)
  })

  test('keeps its session when its password changes', async () => {
    const client = open()
    await client.withPassword(email)
    await client.withCode(codeOf(secret))
    expect(await client.changePassword()).toBe(200)
    expect(await client.isSignedIn()).toBe(true)
  })
})

test('an address that GitHub has not confirmed opens no session', async () => {
  spyOn(globalThis, 'fetch').mockImplementation(await otherServices('eve@example.com', false))
  const client = open()
  const { location } = await client.withGitHub()
  mock.restore()
  expect([location, await client.isSignedIn()]).toEqual([
    expect.stringContaining('error=email_not_verified'),
    false,
  ])
  expect((await client.account('eve@example.com')).email_verified).toBe(false)
})

test('a mail about an account that cannot be written is reported: the library discards the error', async () => {
  reported.length = 0
  await sql`alter table mail rename to mail_away`.execute(database.query)
  try {
    const { status } = await open().requestReset(email)
    expect([status, reported]).toEqual([
      200,
      [expect.objectContaining({ message: expect.stringContaining('"mail" does not exist') })],
    ])
  } finally {
    await sql`alter table mail_away rename to mail`.execute(database.query)
  }
})
