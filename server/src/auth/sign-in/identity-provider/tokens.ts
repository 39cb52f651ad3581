import { errors, jwtVerify, type JWTPayload } from 'jose'
import type { ProviderMetadata } from './metadata'
import { ProviderRejected, ProviderUnavailable } from './requests'
import { isObject } from '../../../wire/json-body'

/** Signatures by a key that only the provider has; no `none`, and none by a shared secret. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]
const skewSeconds = 60
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'
const maxLogoutTokenAge = '5 minutes'
const logoutTypes = new Set(['logout+jwt', 'application/logout+jwt', 'jwt'])

/** The parties of a token: its issuer with its keys, and the client that it is for. */
interface TokenParties {
  keys: ProviderMetadata['keys']
  issuer: string
  clientId: string
}

/**
 * Verifies an ID token and returns its claims. Rejects with `ProviderRejected`, and with `ProviderUnavailable` where the
 * keys cannot be fetched. Source:
 * https://openid.net/specs/openid-connect-core-1_0.html (3.1.3.7)
 */
export async function verifyIdToken(
  token: string,
  parties: TokenParties,
  nonce: string,
): Promise<JWTPayload & { sub: string }> {
  const { payload } = await verify(token, parties, {
    requiredClaims: ['sub', 'iat', 'exp', 'nonce'],
  })
  checkAuthorizedParty(payload, parties.clientId)
  if (payload['nonce'] !== nonce) throw new ProviderRejected('the ID token has another nonce')
  return { ...payload, sub: readSubject(payload) }
}

/** The subject, the session, or both that a logout token ends. */
interface EndedSubject {
  sub: string | undefined
  sid: string | undefined
}

/**
 * Verifies a logout token and returns whom it is about. Rejects as `verifyIdToken` does. Source:
 * https://openid.net/specs/openid-connect-backchannel-1_0.html (2.6)
 */
export async function verifyLogoutToken(
  token: string,
  parties: TokenParties,
): Promise<EndedSubject> {
  const { payload, protectedHeader } = await verify(token, parties, {
    requiredClaims: ['iat', 'jti', 'events'],
    maxTokenAge: maxLogoutTokenAge,
  })
  const { typ } = protectedHeader
  if (typ !== undefined && !logoutTypes.has(typ.toLowerCase())) {
    throw new ProviderRejected('the token has the type of another one')
  }
  const { events, nonce, sub, sid } = payload
  if (nonce !== undefined) throw new ProviderRejected('a logout token has no nonce')
  if (!isObject(events) || !isObject(events[logoutEvent])) {
    throw new ProviderRejected('the token is about no logout')
  }
  const endedSubject = {
    sub: sub === undefined ? undefined : readSubject(payload),
    sid: typeof sid === 'string' && sid !== '' ? sid : undefined,
  }
  if (endedSubject.sub === undefined && endedSubject.sid === undefined) {
    throw new ProviderRejected('the logout token names neither a subject nor a session')
  }
  return endedSubject
}

interface Requirements {
  requiredClaims: string[]
  maxTokenAge?: string
}

async function verify(
  token: string,
  { keys, issuer, clientId }: TokenParties,
  requirements: Requirements,
) {
  try {
    return await jwtVerify(token, keys, {
      issuer,
      audience: clientId,
      algorithms,
      clockTolerance: skewSeconds,
      ...requirements,
    })
  } catch (thrown) {
    if (thrown instanceof ProviderUnavailable || thrown instanceof ProviderRejected) throw thrown
    if (thrown instanceof errors.JWKSTimeout) throw new ProviderUnavailable('no keys in time')
    // The library's errors hold the claims; the code and the name of a claim say enough.
    throw new ProviderRejected(`the token is not valid: ${describe(thrown)}`)
  }
}

function describe(thrown: unknown): string {
  if (!(thrown instanceof errors.JOSEError)) return 'it cannot be read'
  const isOfClaim =
    thrown instanceof errors.JWTClaimValidationFailed || thrown instanceof errors.JWTExpired
  return isOfClaim ? `${thrown.code} (${thrown.claim})` : thrown.code
}

/** A token for several clients names the one that it was issued to. */
function checkAuthorizedParty({ aud, azp }: JWTPayload, clientId: string): void {
  const isForSeveral = Array.isArray(aud) && aud.length > 1
  if (azp === undefined ? !isForSeveral : azp === clientId) return
  throw new ProviderRejected('the ID token was issued to another client')
}

const maxSubject = 255

function readSubject({ sub }: JWTPayload): string {
  if (typeof sub === 'string' && sub.trim() !== '' && sub.length <= maxSubject) return sub
  throw new ProviderRejected(`the subject is no text of 1 to ${maxSubject} characters`)
}
