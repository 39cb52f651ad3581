import type { AsyncLocalStorage } from 'node:async_hooks'
import { APIError } from 'better-auth/api'
import type { Kysely } from 'kysely'
import { storeProviderSession } from './accounts'
import { domainOf, SignInRefusal, type ProvenIdentity } from './identity'
import { toRoleAfterSignIn } from './role-claim'
import { refusalPage } from './sign-in-flow'
import type { IdentityProviderConfig } from '../../../platform/config/identity-provider'
import type { Schema } from '../../../platform/db/schema'
import { toOperatorRole, type OperatorRole } from '../../../platform/operator-role'

/** The proof that a running request has of an identity, once it has one. */
export interface RequestProof {
  identity?: ProvenIdentity
}

/** The rules for accounts, the same for each protocol. */
type AccountRules = Pick<
  IdentityProviderConfig,
  'name' | 'domains' | 'requiredDomains' | 'roleClaim'
>

interface AdmissionPorts {
  config: AccountRules
  /** The name of the provider in the rows of linked accounts. */
  providerId: string
  /** The variable that lists the domains. */
  domainsVariable: string
  db: Kysely<Schema>
  proofs: AsyncLocalStorage<RequestProof>
  setRole: (userId: string, role: OperatorRole | null) => Promise<void>
  onRefusal: (error: unknown) => void
}

/** The request that creates a session. */
interface SessionCreation {
  /** Whether it continues what a first factor or a session has proven. */
  isContinued: boolean
  /** Whether a browser opens it as a page. */
  isNavigation: boolean
}

/** Creates the rules for accounts of the domains of an identity provider. */
export function createAdmission(ports: AdmissionPorts) {
  const { config, db, proofs, providerId, setRole, onRefusal } = ports
  const isRequiredFor = (email: string) => config.requiredDomains.includes(domainOf(email))
  /** Throws for an account of a domain that the provider may not sign in: its address may differ from the identity's. */
  const checkDomain = (email: string) => {
    if (config.domains.includes(domainOf(email))) return
    const reason = `the account has an address of a domain that is not in ${ports.domainsVariable}`
    onRefusal(new SignInRefusal('identity_provider_domain', reason))
    throw lead('identity_provider_domain')
  }
  return {
    /** Throws for an address whose accounts sign in by the provider alone. */
    checkAddress(email: unknown): void {
      if (typeof email === 'string' && isRequiredFor(email)) throw requiredError(config, email)
    },
    /** Returns the reason why an account at another provider may not be used for an address; undefined for none. */
    refuseOther(email: unknown, usedProvider: string | undefined) {
      const isFree = typeof email !== 'string' || !isRequiredFor(email)
      if (usedProvider === providerId || isFree) return undefined
      const errorDescription = requiredText(config, email)
      return { error: 'identity_provider_required', errorDescription }
    },
    /**
     * Checks a session before its creation, and applies the claims of the identity to the account. Throws where the account
     * signs in by the provider alone, and for an account of a domain that the provider may not sign in.
     */
    async admitSession(userId: string, creation: SessionCreation): Promise<void> {
      const { email, ...account } = await db
        .selectFrom('users')
        .select(['email', 'is_operator', 'operator_role'])
        .where('id', '=', userId)
        .executeTakeFirstOrThrow()
      const identity = proofs.getStore()?.identity
      if (!identity) {
        if (creation.isContinued || !isRequiredFor(email)) return
        throw creation.isNavigation
          ? lead('identity_provider_required')
          : requiredError(config, email)
      }
      checkDomain(email)
      const { claimedRole, sid } = identity
      if (config.roleClaim && claimedRole !== undefined) {
        const role = toOperatorRole(account)
        const next = toRoleAfterSignIn(role, claimedRole, config.roleClaim)
        if (next !== role) await setRole(userId, next)
      }
      if (sid !== undefined) await storeProviderSession(db, userId, sid)
    },
  }
}

const lead = (code: string) => new APIError('FOUND', undefined, { location: refusalPage(code) })

const requiredText = ({ name }: AccountRules, email: string) =>
  `Accounts of ${domainOf(email)} sign in by ${name} only.`

const requiredError = (config: AccountRules, email: string) =>
  new APIError('FORBIDDEN', {
    code: 'IDENTITY_PROVIDER_REQUIRED',
    message: requiredText(config, email),
  })
