import { z } from 'zod'
import { ProviderRejected } from './requests'
import { toClaimedRole } from './role-claim'
import type { IdentityProviderConfig } from '../../../platform/config/identity-provider'
import type { OperatorRole } from '../../../platform/operator-role'

/** A person whom the identity provider has signed in, and whom it may sign in here. */
export interface ProvenIdentity {
  /** Unique at the issuer, and never given to another person. */
  subject: string
  /** The session there; undefined where the provider names none. */
  sid: string | undefined
  email: string
  name: string
  /** The role that a claim gives, null for none; undefined where no claim decides. */
  claimedRole: OperatorRole | null | undefined
}

/** Codes of the sign-in page for a sign-in by the identity provider that is refused. */
type RefusalCode =
  | 'identity_provider_unavailable'
  | 'identity_provider_failed'
  | 'identity_provider_no_email'
  | 'identity_provider_email_unverified'
  | 'identity_provider_domain'
  | 'identity_provider_required'

/** A sign-in that is refused with a code for the person; the message is for the operator. */
export class SignInRefusal extends Error {
  override readonly name = 'SignInRefusal'
  readonly code: RefusalCode

  constructor(code: RefusalCode, reason: string) {
    super(reason)
    this.code = code
  }
}

/** Returns the domain of a mail address in lower case. */
export const domainOf = (email: string): string =>
  email.slice(email.lastIndexOf('@') + 1).toLowerCase()

type Claims = Readonly<Record<string, unknown>>

/** Providers write this truth in several ways. */
const confirmations: readonly unknown[] = [true, 'true', 1, '1']

/** The claims of a sign-in that are read, beside the name. */
export const neededClaims = ({ emailVerifiedClaim, roleClaim }: IdentityProviderConfig) => [
  'email',
  emailVerifiedClaim,
  ...(roleClaim ? [roleClaim.claim] : []),
]

/**
 * Returns the identity in verified claims. Throws `SignInRefusal` without an address that the provider has confirmed, and
 * for one of a domain that it may not sign in.
 */
export function toIdentity(claims: Claims, config: IdentityProviderConfig): ProvenIdentity {
  const { sub, sid, name } = claims
  if (typeof sub !== 'string') throw new ProviderRejected('the claims have no subject')
  const email = z.email().safeParse(claims['email'])
  if (!email.success) {
    throw new SignInRefusal('identity_provider_no_email', 'the claims have no mail address')
  }
  if (!confirmations.includes(claims[config.emailVerifiedClaim])) {
    const reason = `the claim ${config.emailVerifiedClaim} does not confirm the mail address`
    throw new SignInRefusal('identity_provider_email_unverified', reason)
  }
  checkDomains(domainOf(email.data), claims, config)
  return {
    subject: sub,
    sid: typeof sid === 'string' && sid !== '' ? sid : undefined,
    email: email.data.toLowerCase(),
    name: typeof name === 'string' ? name : email.data.slice(0, email.data.lastIndexOf('@')),
    claimedRole:
      config.roleClaim && toClaimedRole(claims[config.roleClaim.claim], config.roleClaim),
  }
}

/** Anyone can have an account there, under an address of a company too. */
const googleIssuer = 'https://accounts.google.com'

/**
 * Throws for a domain that the provider may not sign in. Google confirms mail addresses of everyone: `hd` names the
 * company whose account it is. Source: https://developers.google.com/identity/openid-connect/openid-connect
 */
function checkDomains(domain: string, claims: Claims, { issuer, domains }: IdentityProviderConfig) {
  if (!domains.includes(domain)) {
    const reason = `the domain ${domain} is not in OIDC_DOMAINS`
    throw new SignInRefusal('identity_provider_domain', reason)
  }
  const { hd } = claims
  const isOfCompany = typeof hd === 'string' && domains.includes(hd.toLowerCase())
  if (issuer !== googleIssuer || isOfCompany) return
  const reason = 'the claim hd of the Google account names no domain of OIDC_DOMAINS'
  throw new SignInRefusal('identity_provider_domain', reason)
}
