import { APIError, createAuthMiddleware } from 'better-auth/api'
import { betterAuth, type BetterAuthOptions, type GenericEndpointContext } from 'better-auth'
import { magicLink } from 'better-auth/plugins/magic-link'
import type { Kysely } from 'kysely'
import { endLinks, hashOf } from './link'
import { linkMail, resetMail, emailTakenMail, verificationMail } from './mails'
import { tables } from './tables'
import { countAttempt } from './attempts'
import { firstPassword } from './first-password'
import { reportNoMail } from './no-mail'
import type { IdentityProvider } from './identity-provider/identity-provider'
import { checkReturnAddresses, toOwnPath } from './return-address'
import { endAccess } from './remove-second-factor'
import {
  checkNewSession,
  isContinuation,
  onPasswordUpdate,
  onUserUpdate,
  secondFactor,
} from './second-factor'
import { checkName, checkSignUp, toAccountName, type SignUpPolicy } from './sign-up'
import { newId } from '../../platform/db/id'
import type { Schema } from '../../platform/db/schema'
import { type Mail, postMail } from '../../platform/mail/outbox'

const day = 86_400
const sessionSeconds = 30 * day
const linkSeconds = 15 * 60
const tooManyRequests = 429
const tooManyPage = '/sign-in?error=too_many_requests'
/** Set by Tollgate on every request, so that a client's header of this name has no effect. */
const addressHeader = 'x-tollgate-address'

/** The OAuth client at a provider whose accounts may sign in. */
export interface OAuthClient {
  clientId: string
  clientSecret: string
}

export interface SignInOptions {
  db: Kysely<Schema>
  /** The secret that signs cookies; the same on every node. */
  secret: string
  /** The public base URL of the service, without a final slash: links in mails begin with it. */
  address: string
  providers: { github?: OAuthClient; google?: OAuthClient }
  /** The sign-up policy, read at each attempt. */
  signUp: () => SignUpPolicy
  /** The identity provider of a company; undefined for none. */
  identityProvider?: IdentityProvider | undefined
  /** Whether a mail server is configured; without one, mails wait. */
  sendsMail: boolean
  onError: (error: unknown) => void
}

export type SignIn = ReturnType<typeof createSignIn>

/**
 * Creates the sign-in to the dashboard: the library's own endpoints below `/api/auth`, unchanged. Sessions last 30
 * days. Source: contract 2.1, 2.5.
 */
export function createSignIn(options: SignInOptions) {
  const auth = build(options)
  const { identityProvider } = options

  return {
    /** The paths of all endpoints, as the library names them; those without one are not reachable. */
    paths: Object.values(auth.api).flatMap((endpoint) => endpoint.path ?? []),
    /** Answers a request below `/api/auth` from a client address. */
    async answer(request: Request, clientAddress: string): Promise<Response> {
      const headers = new Headers(request.headers)
      headers.set(addressHeader, clientAddress)
      const handle = () => auth.handler(new Request(request, { headers }))
      const answer = toPage(request, await (identityProvider?.run(handle) ?? handle()))
      return restrictRedirect(answer, [new URL(options.address).origin, ...originsOf(request)])
    },
    /** Returns the account of a request's session cookie; undefined where there is no session, or it has ended. */
    async userOf(headers: Headers): Promise<string | undefined> {
      const query = { disableRefresh: true, disableCookieCache: true }
      const session = await auth.api.getSession({ headers, query })
      return session?.user.id
    },
  }
}

/** Accepts the request's own origin, under any name and scheme of the service. */
function originsOf(request: Request | undefined): string[] {
  const host = request?.headers.get('host')
  return host ? [`http://${host}`, `https://${host}`] : []
}

/** Leads a person whose link was rejected by a rate limit to a page that says so, instead of to the JSON of the error. */
function toPage({ method, headers }: Request, answer: Response): Response {
  const isNavigation = method === 'GET' && headers.get('accept')?.includes('text/html') === true
  if (answer.status !== tooManyRequests || !isNavigation) return answer
  return new Response(null, { status: 302, headers: { location: tooManyPage } })
}

/**
 * Makes a redirect lead to a path under the name of the service that the client used: the library has its own address
 * before it, which may be `localhost` to a client on another machine. Any other site becomes the first page.
 */
function restrictRedirect(answer: Response, origins: readonly string[]): Response {
  const to = answer.headers.get('location')
  if (to === null || answer.status < 300 || answer.status >= 400) return answer
  const headers = new Headers(answer.headers)
  headers.set('location', toOwnPath(to, origins) ?? '/')
  return new Response(null, { status: answer.status, headers })
}

function build(options: SignInOptions) {
  const { db, secret, address, providers, identityProvider, onError } = options
  return betterAuth({
    appName: 'Tollgate',
    baseURL: address,
    basePath: '/api/auth',
    secret,
    database: { db, type: 'postgres', transaction: true },
    trustedOrigins: originsOf,
    ...tables,
    user: {
      ...tables.user,
      validateUserInfo: ({ user, source }) =>
        identityProvider?.refuseOther(user.email, source.oauth?.providerId),
    },
    session: { ...tables.session, expiresIn: sessionSeconds, updateAge: day },
    account: { ...tables.account, encryptOAuthTokens: true },
    verification: tables.verification,
    rateLimit: {
      ...tables.rateLimit,
      enabled: true,
      storage: 'database',
      // The library counts it by address until ten seconds pass without a request: a whole office would be locked out.
      // Links of mails have tokens that cannot be guessed and that work once: a team behind one address opens many at a time.
      // The start of OAuth has nothing that can be guessed, and a company comes to work at one time.
      customRules: {
        '/get-session': false,
        '/magic-link/verify': { window: 10, max: 100 },
        '/sign-in/social': { window: 10, max: 100 },
      },
    },
    ...byMail(options),
    socialProviders: {
      ...(providers.github && { github: { ...providers.github, ...emailConfirmation } }),
      ...(providers.google && { google: { ...providers.google, ...emailConfirmation } }),
    },
    plugins: [
      secondFactor(),
      firstPassword((email) => endLinks(db, email)),
      magicLink({
        disableSignUp: true,
        expiresIn: linkSeconds,
        storeToken: { type: 'custom-hasher', hash: (token) => Promise.resolve(hashOf(token)) },
        sendMagicLink: ({ email, url }) => sendLink(db, email, url),
      }),
      ...(identityProvider ? [identityProvider.plugin] : []),
    ],
    ...hooksOf(options),
    advanced: byCookie(address),
    onAPIError: { errorURL: '/sign-in', onError },
    logger: { disabled: true },
    telemetry: { enabled: false },
  })
}

/** An account at another provider may name any address: one that the provider has not confirmed is confirmed first. */
const emailConfirmation = { requireEmailVerification: true }

/** The options for cookies, client addresses and ids. */
const byCookie = (address: string) =>
  ({
    cookiePrefix: 'tollgate',
    useSecureCookies: address.startsWith('https:'),
    // Pages fetch their data themselves, so that a link on another site need not send the cookie.
    cookies: { session_token: { attributes: { sameSite: 'strict' } } },
    ipAddress: { ipAddressHeaders: [addressHeader] },
    database: { generateId: ({ model }) => (model === 'user' ? newId('user') : newId('sess')) },
  }) satisfies BetterAuthOptions['advanced']

/** The checks of requests, accounts and sessions. */
const hooksOf = (options: SignInOptions) =>
  ({
    hooks: {
      // The library's error does not reveal why an account could not be created, so that is checked before.
      before: createAuthMiddleware(async ({ path, body, query }) => {
        checkName(body?.name)
        checkReturnAddresses({ ...query, ...body }, options.address)
        await checkAttempts(options.db, path, body?.email)
        options.identityProvider?.checkAddress(body?.email)
        if (path === '/sign-up/email') {
          await checkSignUp(options.db, options.signUp(), String(body?.email))
        }
      }),
      ...(!options.sendsMail && { after: reportNoMail }),
    },
    databaseHooks: {
      user: {
        create: { before: (user) => admitUser(options, user) },
        update: { after: (user, context) => onUserUpdate(options.db, user, context?.path) },
      },
      account: {
        update: {
          after: (account, context) => onPasswordUpdate(options.db, account, context?.path),
        },
      },
      session: {
        create: { before: ({ userId }, context) => admitSession(options, userId, context) },
      },
    },
  }) satisfies BetterAuthOptions

/** Checks a session before its creation. Throws as `checkNewSession`, and where another way in is required. */
async function admitSession(
  { db, identityProvider }: SignInOptions,
  userId: string,
  context: GenericEndpointContext | null,
): Promise<void> {
  const request = { path: context?.path, signedInId: context?.context.session?.user.id }
  await checkNewSession(db, userId, request)
  await identityProvider?.admitSession(userId, {
    isContinued: isContinuation(userId, request),
    isNavigation: context?.method === 'GET',
  })
}

/** Returns the options for addresses, passwords and the mails about them. */
function byMail({ db, address, onError }: SignInOptions) {
  // The library discards what these functions throw, and answers as if the mail were on its way.
  const post = (mail: Mail) =>
    postMail(db, mail).catch((thrown: unknown) => {
      onError(thrown)
      throw thrown
    })
  return {
    emailAndPassword: {
      enabled: true,
      requireEmailVerification: true,
      minPasswordLength: 10,
      maxPasswordLength: 128,
      revokeSessionsOnPasswordReset: true,
      // The library's own hash would block all requests of the process meanwhile.
      password: {
        hash: (password) => Bun.password.hash(password),
        verify: ({ hash, password }) => Bun.password.verify(password, hash),
      },
      sendResetPassword: ({ user, url }) => post(resetMail(user, url)),
      onPasswordReset: async ({ user }) => {
        await endLinks(db, user.email)
        await endAccess(db, user.id)
      },
      onExistingUserSignUp: ({ user }) => post(emailTakenMail(user, address)),
    },
    emailVerification: {
      sendOnSignUp: true,
      sendOnSignIn: true,
      autoSignInAfterVerification: true,
      sendVerificationEmail: ({ user, url }) => post(verificationMail(user, url)),
    },
  } satisfies BetterAuthOptions
}

/** Sends a link only where the address has an account; the client's answer is the same in both cases. */
async function sendLink(db: Kysely<Schema>, email: string, url: string): Promise<void> {
  const user = await db
    .selectFrom('users')
    .select('email')
    .where((is) => is(is.fn('lower', ['email']), '=', email.toLowerCase()))
    .where('status', '=', 'active')
    .executeTakeFirst()
  if (user) await postMail(db, linkMail(user, url))
}

/** Checks a user before its creation, and makes its name one line. Rejects as `checkSignUp`. */
async function admitUser<User extends { email: string; name: string }>(
  { db, signUp, identityProvider }: SignInOptions,
  user: User,
): Promise<{ data: User }> {
  const isIdentified = identityProvider?.hasIdentity() === true
  await checkSignUp(db, isIdentified ? identityProvider.signUp : signUp(), user.email)
  return { data: { ...user, name: toAccountName(user.name) } }
}

/** Throws where an account has too many attempts. */
async function checkAttempts(db: Kysely<Schema>, path: string, email: unknown): Promise<void> {
  const seconds = await countAttempt(db, path, email)
  if (seconds === undefined) return
  const message = 'Too many attempts for this account. Retry in a few minutes.'
  const headers = { 'retry-after': String(seconds), 'x-retry-after': String(seconds) }
  throw new APIError('TOO_MANY_REQUESTS', { code: 'TOO_MANY_TRIES', message }, headers)
}
