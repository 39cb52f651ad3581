import { AsyncLocalStorage } from 'node:async_hooks'
import type { BetterAuthPlugin } from 'better-auth'
import { APIError } from 'better-auth/api'
import type { Kysely } from 'kysely'
import { confirmAddress, endSessions, storeProviderSession } from './accounts'
import { createBackChannelLogout } from './back-channel-logout'
import { domainOf, SignInRefusal, type Identity } from './identity'
import { createMetadataReader } from './metadata'
import type { SendToProvider } from './requests'
import { createOAuthProvider, providerId, refusalPage } from './sign-in-flow'
import { verifyLogoutToken } from './tokens'
import type { IdentityProviderConfig } from '../../../platform/config/identity-provider'
import type { Schema } from '../../../platform/db/schema'

export interface IdentityProviderPorts {
  config: IdentityProviderConfig
  db: Kysely<Schema>
  send: SendToProvider
  /** Makes an account an operator, or an operator an ordinary account; records it in the audit log. */
  setOperator: (userId: string, isOperator: boolean) => Promise<void>
  /** Receives the reason of a sign-in or logout that was refused. */
  onRefusal: (error: unknown) => void
}

/** The request that creates a session. */
interface SessionRequest {
  /** Whether it continues what a first factor or a session has proven. */
  isContinued: boolean
  /** Whether a browser opens it as a page. */
  isNavigation: boolean
}

/** What the running request has proven. */
interface Proof {
  identity?: Identity
}

export type IdentityProvider = ReturnType<typeof createIdentityProvider>

/**
 * Creates the sign-in by an identity provider, over OpenID Connect: the plugin for the library, and the rules for accounts
 * of its domains. Source: contract 2.5.
 */
export function createIdentityProvider(ports: IdentityProviderPorts) {
  const { config, db, send } = ports
  const proofs = new AsyncLocalStorage<Proof>()
  const metadata = createMetadataReader(config.issuer, send)
  const provider = createOAuthProvider({
    config,
    send,
    metadata,
    onRefusal: ports.onRefusal,
    async onIdentity(identity) {
      await confirmAddress(db, identity.email)
      const proof = proofs.getStore()
      if (proof) proof.identity = identity
    },
  })
  const isRequiredFor = (email: string) => config.requiredDomains.includes(domainOf(email))
  const endByToken = async (token: string) => {
    try {
      const { issuer, clientId } = config
      const { keys } = await metadata()
      const { sub, sid } = await verifyLogoutToken(token, { keys, issuer, clientId })
      await endSessions(db, { issuer, sub, sid })
    } catch (thrown) {
      ports.onRefusal(thrown)
      throw thrown
    }
  }
  return {
    plugin: {
      id: 'identity-provider',
      init: ({ socialProviders }) => ({
        context: { socialProviders: [provider, ...socialProviders] },
      }),
      endpoints: { backChannelLogout: createBackChannelLogout(endByToken) },
    } satisfies BetterAuthPlugin,
    isRequiredFor,
    signUp: config.signUp,
    /** Runs a request, within which a proven identity counts. */
    run: <Value>(request: () => Promise<Value>): Promise<Value> => proofs.run({}, request),
    /** Whether the running request has proven an identity. */
    hasIdentity: () => proofs.getStore()?.identity !== undefined,
    /** Throws for an address whose accounts sign in by the provider alone, unless it is the one at hand. */
    checkAddress(email: unknown): void {
      if (typeof email === 'string' && isRequiredFor(email)) throw requiredError(config, email)
    },
    /** Returns the reason why an account at another provider may not be used for an address. */
    refuseOther(email: unknown, usedProvider: string | undefined) {
      if (usedProvider === providerId || typeof email !== 'string' || !isRequiredFor(email)) return
      return { error: 'identity_provider_required', errorDescription: requiredText(config, email) }
    },
    /**
     * Checks a session before its creation, and applies what the identity says of the account. Throws where the account
     * signs in by the provider alone, and for an account of a domain that the provider may not sign in.
     */
    async admitSession(userId: string, request: SessionRequest): Promise<void> {
      const user = await db
        .selectFrom('users')
        .select(['email', 'is_operator'])
        .where('id', '=', userId)
        .executeTakeFirstOrThrow()
      const identity = proofs.getStore()?.identity
      if (!identity) {
        if (request.isContinued || !isRequiredFor(user.email)) return
        throw request.isNavigation
          ? lead('identity_provider_required')
          : requiredError(config, user.email)
      }
      // The address of the account may be another one than that of the identity.
      if (!config.domains.includes(domainOf(user.email))) {
        const reason = 'the account has an address of a domain that is not in OIDC_DOMAINS'
        ports.onRefusal(new SignInRefusal('identity_provider_domain', reason))
        throw lead('identity_provider_domain')
      }
      const { isOperator, sid } = identity
      if (isOperator !== undefined && isOperator !== user.is_operator) {
        await ports.setOperator(userId, isOperator)
      }
      if (sid !== undefined) await storeProviderSession(db, userId, sid)
    },
  }
}

const lead = (code: string) => new APIError('FOUND', undefined, { location: refusalPage(code) })

const requiredText = ({ name }: IdentityProviderConfig, email: string) =>
  `Accounts of ${domainOf(email)} sign in by ${name} only.`

const requiredError = (config: IdentityProviderConfig, email: string) =>
  new APIError('FORBIDDEN', {
    code: 'IDENTITY_PROVIDER_REQUIRED',
    message: requiredText(config, email),
  })
