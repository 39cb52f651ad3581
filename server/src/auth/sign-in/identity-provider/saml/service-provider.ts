import { SAML, ValidateInResponseTo, type CacheProvider } from '@node-saml/node-saml'
import type { Kysely } from 'kysely'
import { skewMs, verifyAssertion, type VerifiedAssertion } from './assertion'
import { findRequest } from './requests'
import { readResponseText } from './response-text'
import { ProviderRejected } from '../requests'
import { SignInRefusal } from '../identity'
import type { SamlConfig } from '../../../../platform/config/saml'
import type { Schema } from '../../../../platform/db/schema'

const requestMs = 10 * 60_000

export const metadataPath = '/saml/metadata'
export const consumerPath = '/saml/acs'

export type ServiceProvider = ReturnType<typeof createServiceProvider>

/** Creates the SAML service provider of an installation; `base` is the public address of its sign-in endpoints. */
export function createServiceProvider(config: SamlConfig, db: Kysely<Schema>, base: string) {
  const recipient = `${base}${consumerPath}`
  const entityId = `${base}${metadataPath}`
  const openRequests: CacheProvider = {
    // The sign-in is stored with what its browser holds, and ends with the assertion.
    saveAsync: (_, value) => Promise.resolve({ value, createdAt: Date.now() }),
    getAsync: (id) => findRequest(db, id),
    removeAsync: (id) => Promise.resolve(id),
  }
  const withRequest = (id: string) =>
    new SAML({
      callbackUrl: recipient,
      entryPoint: config.signInUrl,
      issuer: entityId,
      audience: entityId,
      idpCert: [...config.certificates],
      identifierFormat: null,
      disableRequestedAuthnContext: true,
      wantAssertionsSigned: true,
      wantAuthnResponseSigned: false,
      validateInResponseTo: ValidateInResponseTo.always,
      requestIdExpirationPeriodMs: requestMs,
      acceptedClockSkewMs: skewMs,
      cacheProvider: openRequests,
      generateUniqueId: () => id,
    })
  return {
    metadata: () => withRequest(newRequestId()).generateServiceProviderMetadata(null, null),
    /** Returns the address at the provider that a sign-in begins with. */
    signInAddress: (requestId: string, relayState: string) =>
      withRequest(requestId).getAuthorizeUrlAsync(relayState, undefined, {}),
    /** Verifies a response. Rejects with `ProviderRejected` or `SignInRefusal`. */
    async verify(encoded: string): Promise<VerifiedAssertion & { requestId: string }> {
      const text = readResponseText(encoded)
      const { requestId, content } = await readSigned(withRequest(newRequestId()), text)
      const signIn = { requestId, recipient, nowMs: Date.now() }
      return { requestId, ...verifyAssertion(content, signIn, config) }
    },
  }
}

/** Returns an id that no one can guess: an XML name, which begins with no digit. */
export const newRequestId = () => `_${crypto.randomUUID().replaceAll('-', '')}`

async function readSigned(saml: SAML, text: string) {
  try {
    const SAMLResponse = Buffer.from(text).toString('base64')
    const { profile } = await saml.validatePostResponseAsync({ SAMLResponse })
    const requestId = profile?.['inResponseTo']
    const content: unknown = profile?.getAssertion?.()
    if (typeof requestId === 'string' && content !== undefined) return { requestId, content }
  } catch (thrown) {
    if (thrown instanceof SignInRefusal) throw thrown
    // The library's own words; they have no more of the response than audiences and a status.
    const reason = thrown instanceof Error ? thrown.message.slice(0, 200) : 'it cannot be read'
    throw new ProviderRejected(`the response is not valid: ${reason}`)
  }
  throw new ProviderRejected('the response has no assertion')
}
