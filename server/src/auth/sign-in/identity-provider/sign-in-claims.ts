import { authorizationCodeRequest } from 'better-auth/oauth2'
import { neededClaims } from './identity'
import type { ProviderMetadata } from './metadata'
import { fetchObject, ProviderRejected, type SendToProvider } from './requests'
import { verifyIdToken } from './tokens'
import type { IdentityProviderConfig } from '../../../platform/config/identity-provider'

/** The end of a sign-in at the provider: the code, and what proves that this client began it. */
interface CompletedFlow {
  code: string
  codeVerifier: string | undefined
  redirectURI: string
}

interface TokenSource {
  config: IdentityProviderConfig
  send: SendToProvider
  metadata: ProviderMetadata
}

/** The tokens of a sign-in, before anything in them is verified. */
export interface IssuedTokens {
  idToken: string
  accessToken: string | undefined
}

/** Exchanges the code of a sign-in for its tokens. Rejects with `ProviderUnavailable` or `ProviderRejected`. */
export async function exchangeCode(
  { config, send, metadata }: TokenSource,
  flow: CompletedFlow,
): Promise<IssuedTokens> {
  const { body, headers } = await authorizationCodeRequest({
    ...flow,
    options: { clientId: config.clientId, clientSecret: config.clientSecret },
    tokenEndpoint: metadata.tokenEndpoint,
    authentication: metadata.authentication,
  })
  const answer = await fetchObject(send, {
    url: metadata.tokenEndpoint,
    method: 'POST',
    headers,
    body: body.toString(),
  })
  const { id_token: idToken, access_token: accessToken } = answer
  if (typeof idToken !== 'string') throw new ProviderRejected('there is no ID token')
  return { idToken, accessToken: typeof accessToken === 'string' ? accessToken : undefined }
}

/**
 * Returns the claims of a sign-in: those of its verified ID token, and from the userinfo endpoint those that the token
 * lacks. Rejects as `exchangeCode` does.
 */
export async function readClaims(
  source: TokenSource,
  { idToken, accessToken }: IssuedTokens,
  nonce: string,
): Promise<Record<string, unknown>> {
  const { config, metadata, send } = source
  const { issuer, clientId } = config
  const claims = await verifyIdToken(idToken, { keys: metadata.keys, issuer, clientId }, nonce)
  const isComplete = neededClaims(config).every((name) => claims[name] !== undefined)
  if (isComplete || !metadata.userInfoEndpoint || !accessToken) return claims
  const info = await fetchObject(send, {
    url: metadata.userInfoEndpoint,
    method: 'GET',
    headers: { accept: 'application/json', authorization: `Bearer ${accessToken}` },
  })
  // Source: https://openid.net/specs/openid-connect-core-1_0.html (5.3.2): else they may be about someone else.
  if (info['sub'] !== claims.sub) throw new ProviderRejected('userinfo is about another subject')
  return { ...info, ...claims }
}
