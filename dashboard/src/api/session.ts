import { queryOptions } from '@tanstack/react-query'
import { checkedFetch, sessionEnd } from './client'

export interface User {
  id: string
  name: string
  email: string
  twoFactorEnabled?: boolean
  isOperator?: boolean
  /** The role of an operator who is not a full one; null for a customer. */
  operatorRole?: 'support' | 'finance' | 'read_only' | null
}

/** A browser session. */
export interface Session {
  id: string
  token: string
  createdAt: string
  expiresAt: string
  userAgent?: string | null
  ipAddress?: string | null
}

interface SignedIn {
  user: User
  session: Session
}

/** Calls a sign-in endpoint below `/api/auth`. Rejects with `ApiError`. */
async function fetchSession<Answer>(path: string, body?: object): Promise<Answer> {
  const response = await checkedFetch(`/api/auth${path}`, {
    method: body ? 'POST' : 'GET',
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  return response.json()
}

/** Asks the service for the session; null when signed out. */
export const currentSession = () => fetchSession<SignedIn | null>('/get-session')

/**
 * The signed-in user; null when signed out. A session that ends keeps its user until the page is left, so that the page
 * keeps what was typed: `sessionEnd` tells, and the user signs in again in place.
 */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ client, queryKey }): Promise<SignedIn | null> => {
    const session = await currentSession()
    const before = client.getQueryData<SignedIn | null>(queryKey)
    if (session || !before) return session
    sessionEnd.dispatchEvent(new Event('end'))
    return before
  },
  staleTime: 60_000,
})

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: () => fetchSession<Session[]>('/list-sessions'),
})

/** Whether the account has a password: accounts that signed in by a link or another provider need not. */
export const hasPasswordQuery = queryOptions({
  queryKey: ['has-password'],
  queryFn: async () => {
    const accounts = await fetchSession<{ providerId: string }[]>('/list-accounts')
    return accounts.some(({ providerId }) => providerId === 'credential')
  },
})

export interface Credentials {
  email: string
  password: string
}

/** Other sign-in providers. */
export const otherServices = { github: 'GitHub', google: 'Google' } as const
export type OtherService = keyof typeof otherServices

/** The sign-in actions, as the auth library's endpoints name them. */
export const signIn = {
  /** Resolves with whether a second factor is required next. */
  async withPassword(credentials: Credentials): Promise<{ needsFactor: boolean }> {
    const answer = await fetchSession<{ twoFactorRedirect?: boolean }>(
      '/sign-in/email',
      credentials,
    )
    return { needsFactor: answer.twoFactorRedirect === true }
  },
  withCode: (code: string) => fetchSession('/two-factor/verify-totp', { code }),
  withBackupCode: (code: string) => fetchSession('/two-factor/verify-backup-code', { code }),
  /** With a second factor: a code of the authenticator app, or a backup code. */
  withFactor: (code: string): Promise<unknown> =>
    /^\d{6}$/.test(code) ? signIn.withCode(code) : signIn.withBackupCode(code),
  withLink: (email: string) => fetchSession('/sign-in/magic-link', { email, callbackURL: '/' }),
  /** Returns the address of the other provider's sign-in page. */
  withService: (provider: OtherService | 'oidc' | 'saml') =>
    fetchSession<{ url: string }>('/sign-in/social', { provider, callbackURL: '/' }),
  signUp: (account: Credentials & { name: string }) =>
    fetchSession('/sign-up/email', { ...account, callbackURL: '/' }),
  forgot: (email: string) =>
    fetchSession('/request-password-reset', { email, redirectTo: '/reset-password' }),
  reset: (token: string, newPassword: string) =>
    fetchSession('/reset-password', { token, newPassword }),
  signOut: () => fetchSession('/sign-out', {}),
}

/** The account's security settings. */
export const security = {
  changePassword: (currentPassword: string, newPassword: string) =>
    fetchSession('/change-password', { currentPassword, newPassword, revokeOtherSessions: true }),
  /** For an account without a password, in a session that has just begun. */
  setPassword: (newPassword: string) => fetchSession('/set-password', { newPassword }),
  revoke: (token: string) => fetchSession('/revoke-session', { token }),
  revokeOthers: () => fetchSession('/revoke-other-sessions', {}),
  enableFactor: (password: string) =>
    fetchSession<{ totpURI: string; backupCodes: string[] }>('/two-factor/enable', { password }),
  disableFactor: (password: string) => fetchSession('/two-factor/disable', { password }),
}
