import type { BetterAuthOptions } from 'better-auth'

const timestampFields = { createdAt: 'created_at', updatedAt: 'updated_at' }

/** The table and column names of better-auth's models in our database. Source: migration 0020. */
export const tables = {
  user: {
    modelName: 'users',
    fields: { name: 'display_name', emailVerified: 'email_verified', ...timestampFields },
    additionalFields: {
      // Returned with a session, and never set by a client; the default appears in the answer to a sign-up with a
      // taken address.
      isOperator: {
        type: 'boolean',
        fieldName: 'is_operator',
        required: false,
        input: false,
        defaultValue: false,
      },
      // Of operators with another role than that.
      operatorRole: {
        type: 'string',
        fieldName: 'operator_role',
        required: false,
        input: false,
      },
    },
  },
  session: {
    modelName: 'auth_session',
    fields: {
      userId: 'user_id',
      expiresAt: 'expires_at',
      ipAddress: 'ip_address',
      userAgent: 'user_agent',
      ...timestampFields,
    },
  },
  account: {
    modelName: 'auth_account',
    fields: {
      userId: 'user_id',
      accountId: 'account_id',
      providerId: 'provider_id',
      accessToken: 'access_token',
      refreshToken: 'refresh_token',
      idToken: 'id_token',
      accessTokenExpiresAt: 'access_token_expires_at',
      refreshTokenExpiresAt: 'refresh_token_expires_at',
      ...timestampFields,
    },
  },
  verification: {
    modelName: 'auth_verification',
    fields: { expiresAt: 'expires_at', ...timestampFields },
  },
  rateLimit: { modelName: 'auth_rate_limit', fields: { lastRequest: 'last_request' } },
} satisfies Partial<BetterAuthOptions>

/** The table and column names of its plugin for second factors. */
export const twoFactorTables = {
  user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
  twoFactor: {
    modelName: 'auth_two_factor',
    fields: {
      userId: 'user_id',
      backupCodes: 'backup_codes',
      failedVerificationCount: 'failed_verification_count',
      lockedUntil: 'locked_until',
    },
  },
}
