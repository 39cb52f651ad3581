import { APIError, createAuthEndpoint } from 'better-auth/api'
import { z } from 'zod'
import { ProviderUnavailable } from './requests'

const logoutPath = '/oidc/back-channel-logout'

/**
 * Creates the endpoint that ends sessions when the identity provider says so; `endByToken` verifies the token. Source:
 * https://openid.net/specs/openid-connect-backchannel-1_0.html (2.8)
 */
export const createBackChannelLogout = (endByToken: (token: string) => Promise<void>) =>
  createAuthEndpoint(
    logoutPath,
    {
      method: 'POST',
      body: z.object({ logout_token: z.string() }),
      metadata: { allowedMediaTypes: ['application/x-www-form-urlencoded'] },
    },
    async (ctx) => {
      ctx.setHeader('cache-control', 'no-store')
      try {
        await endByToken(ctx.body.logout_token)
      } catch (thrown) {
        throw thrown instanceof ProviderUnavailable ? unverified : invalid
      }
      return ctx.json({})
    },
  )

const noStore = { 'cache-control': 'no-store' }

const invalid = new APIError(
  'BAD_REQUEST',
  { error: 'invalid_request', error_description: 'The logout token is not valid.' },
  noStore,
)
const unverified = new APIError(
  'SERVICE_UNAVAILABLE',
  { error: 'temporarily_unavailable', error_description: 'The keys cannot be fetched.' },
  noStore,
)
