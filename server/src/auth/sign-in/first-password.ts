import type { BetterAuthPlugin } from 'better-auth'
import { APIError, createAuthEndpoint, sensitiveSessionMiddleware } from 'better-auth/api'
import { z } from 'zod'

const maxSessionAgeMs = 3_600_000

const refusal = (code: string, message: string) => new APIError('BAD_REQUEST', { code, message })

/**
 * `POST /api/auth/set-password`: gives an account without a password its first one, without a mail. The session must
 * have begun within the last hour, as the link in a mail would be as old at most. `onSet` receives the address.
 */
export const firstPassword = (onSet: (email: string) => Promise<void>) =>
  ({
    id: 'first-password',
    endpoints: {
      setFirstPassword: createAuthEndpoint(
        '/set-password',
        {
          method: 'POST',
          body: z.object({ newPassword: z.string() }),
          use: [sensitiveSessionMiddleware],
        },
        async (ctx) => {
          const { session, user } = ctx.context.session
          const { newPassword } = ctx.body
          const { internalAdapter, password } = ctx.context
          const { minPasswordLength: min, maxPasswordLength: max } = password.config
          if (newPassword.length < min || newPassword.length > max) {
            throw refusal('INVALID_PASSWORD', `A password has ${min} to ${max} characters.`)
          }
          if (Date.now() - new Date(session.createdAt).getTime() > maxSessionAgeMs) {
            const message = 'This session is older than an hour. Sign in again to set a password.'
            throw refusal('SESSION_NOT_FRESH', message)
          }
          if (await internalAdapter.findCredentialAccount(user.id)) {
            throw refusal('PASSWORD_ALREADY_SET', 'This account has a password. Change it instead.')
          }
          await internalAdapter.linkAccount({
            userId: user.id,
            providerId: 'credential',
            accountId: user.id,
            password: await password.hash(newPassword),
          })
          await onSet(user.email)
          return ctx.json({ status: true })
        },
      ),
    },
  }) satisfies BetterAuthPlugin
