import { queryOptions } from '@tanstack/react-query'
import { checkedFetch } from './api'

export interface User {
  id: string
  name: string
  email: string
  twoFactorEnabled?: boolean
  isOperator?: boolean
}

/** A browser where somebody is signed in. */
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

/** Calls an endpoint of sign-in, below `/api/auth`. Rejects with `ApiError`. */
async function ask<Answer>(path: string, body?: object): Promise<Answer> {
  const response = await checkedFetch(`/api/auth${path}`, {
    method: body ? 'POST' : 'GET',
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  return response.json()
}

/** Who is signed in; null where nobody is. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => ask<SignedIn | null>('/get-session'),
  staleTime: 60_000,
})

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: () => ask<Session[]>('/list-sessions'),
})

/** Whether there is a password to sign in with: who came by a link or another service need not have one. */
export const hasPasswordQuery = queryOptions({
  queryKey: ['has-password'],
  queryFn: async () => {
    const ways = await ask<{ providerId: string }[]>('/list-accounts')
    return ways.some(({ providerId }) => providerId === 'credential')
  },
})

export interface Credentials {
  email: string
  password: string
}

/** Where people may have an account already that lets them in here. */
export const otherServices = { github: 'GitHub', google: 'Google' } as const
export type OtherService = keyof typeof otherServices

/** What sign-in does, as the library's endpoints name it. */
export const signIn = {
  /** Whether a second factor is asked for next. */
  async withPassword(credentials: Credentials): Promise<{ needsFactor: boolean }> {
    const answer = await ask<{ twoFactorRedirect?: boolean }>('/sign-in/email', credentials)
    return { needsFactor: answer.twoFactorRedirect === true }
  },
  withCode: (code: string) => ask('/two-factor/verify-totp', { code }),
  withBackupCode: (code: string) => ask('/two-factor/verify-backup-code', { code }),
  withLink: (email: string) => ask('/sign-in/magic-link', { email, callbackURL: '/' }),
  /** Where to go on at another service. */
  withService: (provider: OtherService) =>
    ask<{ url: string }>('/sign-in/social', { provider, callbackURL: '/' }),
  signUp: (account: Credentials & { name: string }) =>
    ask('/sign-up/email', { ...account, callbackURL: '/' }),
  forgot: (email: string) =>
    ask('/request-password-reset', { email, redirectTo: '/reset-password' }),
  reset: (token: string, newPassword: string) => ask('/reset-password', { token, newPassword }),
  signOut: () => ask('/sign-out', {}),
}

/** What keeps an account safe. */
export const security = {
  changePassword: (currentPassword: string, newPassword: string) =>
    ask('/change-password', { currentPassword, newPassword, revokeOtherSessions: true }),
  revoke: (token: string) => ask('/revoke-session', { token }),
  revokeOthers: () => ask('/revoke-other-sessions', {}),
  enableFactor: (password: string) =>
    ask<{ totpURI: string; backupCodes: string[] }>('/two-factor/enable', { password }),
  disableFactor: (password: string) => ask('/two-factor/disable', { password }),
}
