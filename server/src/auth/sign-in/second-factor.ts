import { APIError, createAuthMiddleware } from 'better-auth/api'
import { twoFactor } from 'better-auth/plugins/two-factor'
import { sql, type Kysely } from 'kysely'
import { endAccess, endTrust } from './remove-second-factor'
import { twoFactorTables } from './tables'
import type { Schema } from '../../platform/db/schema'
import { isObject } from '../../wire/json-body'

/**
 * How an endpoint that creates a session treats an account with a second factor. `challenge`: it proves the first
 * factor only, so that its answer asks for the second one, and its session ends before the answer. `factor`: its request
 * proves the second factor. `session`: it replaces the session that its request has, which was proven before.
 */
type SessionRule = 'challenge' | 'factor' | 'session'

/**
 * The endpoints that may create a session for an account with a second factor, by their paths in the library. At any
 * other path such a session is rejected: `sign-in-routes.test.ts` lists all paths, and fails for one that is new.
 */
export const sessionRules: Readonly<Record<string, SessionRule>> = {
  '/sign-in/email': 'challenge',
  '/sign-in/social': 'challenge',
  '/callback/:id': 'challenge',
  '/magic-link/verify': 'challenge',
  '/verify-email': 'challenge',
  '/two-factor/verify-totp': 'factor',
  '/two-factor/verify-backup-code': 'factor',
  '/change-password': 'session',
}

const asksForFactor = ({ path }: { path?: string | undefined }) =>
  path !== undefined && sessionRules[path] === 'challenge'

/**
 * Creates the plugin for second factors. The library's own hook ends the session of a sign-in, and starts the challenge,
 * after a password only; here it does so at each endpoint with the rule `challenge`.
 */
export function secondFactor() {
  const plugin = twoFactor({ issuer: 'Tollgate', schema: twoFactorTables })
  const challenges = plugin.hooks.after.map((hook) => ({ ...hook, matcher: asksForFactor }))
  const redirect = { matcher: asksForFactor, handler: leadToChallenge }
  return { ...plugin, hooks: { after: [...challenges, redirect] } }
}

/** Leads a browser that followed a link to the page that asks for the second factor, and from there to its destination. */
const leadToChallenge = createAuthMiddleware(async (ctx) => {
  const { returned, responseHeaders } = ctx.context
  const location = responseHeaders?.get('location')
  if (!location || !isObject(returned) || returned['twoFactorRedirect'] !== true) return
  const { pathname, search, hash } = new URL(location, ctx.context.baseURL)
  const query = new URLSearchParams({ factor: 'required', to: `${pathname}${search}${hash}` })
  throw ctx.redirect(`/sign-in?${query.toString()}`)
})

/** The request that creates a session. */
interface SessionRequest {
  path: string | undefined
  /** The account of the session that the request has. */
  signedInId: string | undefined
}

/**
 * Checks a session before its creation. Throws for a suspended account, and for one with a second factor unless the path
 * has a rule that is met.
 */
export async function checkNewSession(
  db: Kysely<Schema>,
  userId: string,
  { path, signedInId }: SessionRequest,
): Promise<void> {
  const user = await db
    .selectFrom('users')
    .select(sql<boolean>`coalesce(two_factor_enabled, false)`.as('hasFactor'))
    .where('id', '=', userId)
    .where('status', '=', 'active')
    .executeTakeFirst()
  if (!user) {
    throw new APIError('FORBIDDEN', { code: 'SUSPENDED', message: 'This account is suspended.' })
  }
  if (!user.hasFactor) return
  const rule = path === undefined ? undefined : sessionRules[path]
  if (rule !== undefined && (rule !== 'session' || signedInId === userId)) return
  const message =
    'This account has a second factor. Sign in on the sign-in page, which requests it.'
  throw new APIError('FORBIDDEN', { code: 'SECOND_FACTOR_REQUIRED', message })
}

/**
 * Whether a request for a session continues a sign-in whose first factor was proven, or replaces a session of the
 * account.
 */
export const isContinuation = (userId: string, { path, signedInId }: SessionRequest): boolean =>
  signedInId === userId || (path !== undefined && sessionRules[path] === 'factor')

/** Ends the sessions that began before an account had a second factor; the one that enables it is replaced afterwards. */
export async function onUserUpdate(
  db: Kysely<Schema>,
  user: { id: string },
  path: string | undefined,
): Promise<void> {
  if (path === '/two-factor/verify-totp') await endAccess(db, user.id)
}

/** Ends the trusted devices of an account whose owner changes the password, as a reset does. */
export async function onPasswordUpdate(
  db: Kysely<Schema>,
  { userId }: { userId: string },
  path: string | undefined,
): Promise<void> {
  if (path === '/change-password') await endTrust(db, userId)
}
