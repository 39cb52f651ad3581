import { APIError } from 'better-auth/api'
import { createAuthorizationURL, type OAuthProvider } from 'better-auth/oauth2'
import { SignInRefusal, toIdentity, type ProvenIdentity } from './identity'
import type { ProviderMetadata } from './metadata'
import { ProviderUnavailable, type SendToProvider } from './requests'
import { exchangeCode, readClaims, type IssuedTokens } from './sign-in-claims'
import type { IdentityProviderConfig } from '../../../platform/config/identity-provider'

/** The name of the identity provider in paths and in the rows of linked accounts. */
export const providerId = 'oidc'

/** The path of the page that explains a refusal. */
export const refusalPage = (code: string) => `/sign-in?error=${code}`

/** Returns the id of a subject, unique among issuers: another issuer may use the same subjects. */
export const accountIdOf = (issuer: string, subject: string) => `${issuer} ${subject}`

interface FlowPorts {
  config: IdentityProviderConfig
  send: SendToProvider
  metadata: () => Promise<ProviderMetadata>
  /** Receives the identity of the running request, before the library looks for its account. */
  onIdentity: (identity: ProvenIdentity) => Promise<void>
  /** Receives the reason of a sign-in that was refused. */
  onRefusal: (error: unknown) => void
}

/**
 * Creates the identity provider for the library, which keeps state, nonce and code verifier and checks the state. It gets
 * no tokens to store. The page of a refusal is the library's answer.
 */
export function createOAuthProvider(ports: FlowPorts) {
  const { config, send, metadata } = ports
  /** Leads to the page of a refusal: the library has one code for everything that fails here. */
  const lead = (thrown: unknown) => {
    ports.onRefusal(thrown)
    const location = refusalPage(codeOf(thrown))
    return new APIError('FOUND', undefined, { location })
  }
  return {
    id: providerId,
    name: config.name,
    issuer: config.issuer,
    requiresIdTokenNonce: true,
    // An ID token that a client sends by itself is bound to no flow.
    options: { disableIdTokenSignIn: true },
    accountSubject: ({ profile }) => accountIdOf(config.issuer, subjectOf(profile)),
    async createAuthorizationURL({ state, codeVerifier, idTokenNonce, redirectURI, loginHint }) {
      const { authorizationEndpoint } = await metadata().catch((thrown: unknown) => {
        ports.onRefusal(thrown)
        throw unavailable(config.name)
      })
      return createAuthorizationURL({
        id: providerId,
        options: { clientId: config.clientId },
        authorizationEndpoint,
        state,
        codeVerifier,
        nonce: idTokenNonce,
        scopes: [...config.scopes],
        redirectURI,
        loginHint,
      })
    },
    validateAuthorizationCode: async ({ code, codeVerifier, redirectURI }) => {
      try {
        const source = { config, send, metadata: await metadata() }
        return { raw: { issued: await exchangeCode(source, { code, codeVerifier, redirectURI }) } }
      } catch (failure) {
        // The library would give it a code of its own.
        return { raw: { failure } }
      }
    },
    async getUserInfo({ raw = {}, expectedIdTokenNonce: nonce }) {
      try {
        if (raw['failure'] !== undefined) throw raw['failure']
        // Without a flow there are no tokens: the library asks for the profile of a linked account.
        if (!isIssued(raw['issued']) || !nonce) return null
        const source = { config, send, metadata: await metadata() }
        const identity = toIdentity(await readClaims(source, raw['issued'], nonce), config)
        await ports.onIdentity(identity)
        const { email, name, subject } = identity
        return { user: { email, name, emailVerified: true }, data: { sub: subject } }
      } catch (thrown) {
        throw lead(thrown)
      }
    },
  } satisfies OAuthProvider
}

const subjectOf = (profile: object): string => ('sub' in profile ? String(profile.sub) : '')

const isIssued = (value: unknown): value is IssuedTokens =>
  typeof value === 'object' && value !== null && 'idToken' in value

/** Returns the code of the sign-in page for a sign-in that failed. */
export function codeOf(thrown: unknown): string {
  if (thrown instanceof SignInRefusal) return thrown.code
  const isAway = thrown instanceof ProviderUnavailable
  return isAway ? 'identity_provider_unavailable' : 'identity_provider_failed'
}

const unavailable = (name: string) =>
  new APIError('SERVICE_UNAVAILABLE', {
    code: 'IDENTITY_PROVIDER_UNAVAILABLE',
    message: `Signing in by ${name} is not possible at the moment. Try again in a minute.`,
  })
