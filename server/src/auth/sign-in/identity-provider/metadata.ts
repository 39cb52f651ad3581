import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose'
import { z } from 'zod'
import { fetchObject, ProviderRejected, ProviderUnavailable, type SendToProvider } from './requests'
import { CachedValue } from '../../../platform/cached-value'

const keepMs = 10 * 60_000
const keyTimeoutMs = 5000
/** A token with an unknown key makes the keys be fetched again, no more often than this. */
const keyCooldownMs = 30_000

/** The fields of the discovery document that are read. Source: https://openid.net/specs/openid-connect-discovery-1_0.html (3) */
const Document = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: z.url(),
  token_endpoint: z.url(),
  jwks_uri: z.url(),
  userinfo_endpoint: z.url().optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
})

/** An identity provider as its discovery document describes it. */
export interface ProviderMetadata {
  authorizationEndpoint: string
  tokenEndpoint: string
  userInfoEndpoint: string | undefined
  /** How the client proves itself at the token endpoint. */
  authentication: 'basic' | 'post'
  /** Returns the key that signed a token. */
  keys: JWTVerifyGetKey
}

/**
 * Creates the reader of the discovery document, which is kept for ten minutes, and for five more while the provider is
 * down. It rejects with `ProviderUnavailable` or `ProviderRejected`.
 */
export function createMetadataReader(issuer: string, send: SendToProvider) {
  const cachedMetadata = new CachedValue({ read: () => readMetadata(issuer, send), keepMs })
  return () =>
    cachedMetadata.get().catch((thrown: unknown) => {
      if (thrown instanceof ProviderRejected) throw thrown
      throw new ProviderUnavailable('the discovery document cannot be fetched', { cause: thrown })
    })
}

async function readMetadata(issuer: string, send: SendToProvider): Promise<ProviderMetadata> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const body = await fetchObject(send, { url, method: 'GET', headers: jsonHeaders })
  const parsed = Document.safeParse(body)
  if (!parsed.success) {
    const field = parsed.error.issues[0]?.path.join('.')
    throw new ProviderRejected(`the discovery document lacks a valid ${field}`)
  }
  const document = parsed.data
  if (document.issuer !== issuer) {
    throw new ProviderRejected(
      `the discovery document names the issuer ${document.issuer.slice(0, 200)}, OIDC_ISSUER_URL is ${issuer}`,
    )
  }
  checkEndpoints(issuer, document)
  const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = document
  return {
    authorizationEndpoint: document.authorization_endpoint,
    tokenEndpoint: document.token_endpoint,
    userInfoEndpoint: document.userinfo_endpoint,
    authentication: methods.includes('client_secret_basic') ? 'basic' : 'post',
    keys: createKeys(document.jwks_uri, send),
  }
}

const jsonHeaders = { accept: 'application/json' }

/** Throws for an endpoint without TLS, unless the issuer itself, which is on this machine, has none. */
function checkEndpoints(issuer: string, document: z.output<typeof Document>): void {
  const { protocol: issuerProtocol } = new URL(issuer)
  const { authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint } = document
  const endpoints = { authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint }
  for (const [field, address] of Object.entries(endpoints)) {
    const protocol = address === undefined ? 'https:' : new URL(address).protocol
    if (protocol === 'https:' || protocol === issuerProtocol) continue
    throw new ProviderRejected(`${field} of the discovery document is no https URL`)
  }
}

const createKeys = (jwksUri: string, send: SendToProvider): JWTVerifyGetKey =>
  createRemoteJWKSet(new URL(jwksUri), {
    timeoutDuration: keyTimeoutMs,
    cooldownDuration: keyCooldownMs,
    cacheMaxAge: keepMs,
    [customFetch]: async (url) =>
      Response.json(await fetchObject(send, { url, method: 'GET', headers: jsonHeaders })),
  })
