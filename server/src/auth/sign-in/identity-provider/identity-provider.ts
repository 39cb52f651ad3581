import { AsyncLocalStorage } from 'node:async_hooks'
import type { BetterAuthPlugin } from 'better-auth'
import type { Kysely } from 'kysely'
import { confirmAddress, endSessions } from './accounts'
import { createAdmission, type RequestProof } from './admission'
import { createBackChannelLogout } from './back-channel-logout'
import type { ProvenIdentity } from './identity'
import { createMetadataReader } from './metadata'
import type { SendToProvider } from './requests'
import { createOAuthProvider, providerId } from './sign-in-flow'
import { verifyLogoutToken } from './tokens'
import type { IdentityProviderConfig } from '../../../platform/config/identity-provider'
import type { Schema } from '../../../platform/db/schema'
import type { OperatorRole } from '../../../platform/operator-role'

export interface IdentityProviderPorts {
  config: IdentityProviderConfig
  db: Kysely<Schema>
  send: SendToProvider
  /** Gives an account a role of operators, or none; records it in the audit log. */
  setRole: (userId: string, role: OperatorRole | null) => Promise<void>
  /** Receives the reason of a sign-in or logout that was refused. */
  onRefusal: (error: unknown) => void
}

/** The sign-in by an identity provider, over either protocol, and the rules for accounts of its domains. */
export interface IdentityProvider extends ReturnType<typeof createAdmission> {
  plugin: BetterAuthPlugin
  signUp: IdentityProviderConfig['signUp']
  /** Runs a request, within which a proven identity counts. */
  run: <Value>(request: () => Promise<Value>) => Promise<Value>
  /** Whether the running request has proven an identity. */
  hasIdentity: () => boolean
}

/**
 * Creates the sign-in by an identity provider, over OpenID Connect: the plugin for the library, and the rules for accounts
 * of its domains. Source: contract 2.5.
 */
export function createIdentityProvider(ports: IdentityProviderPorts): IdentityProvider {
  const { config, db, send, onRefusal } = ports
  const { issuer, clientId } = config
  const proofs = new AsyncLocalStorage<RequestProof>()
  const metadata = createMetadataReader(issuer, send)
  const onIdentity = async (identity: ProvenIdentity) => {
    await confirmAddress(db, identity.email)
    const proof = proofs.getStore()
    if (proof) proof.identity = identity
  }
  const provider = createOAuthProvider({ config, send, metadata, onRefusal, onIdentity })
  const endByToken = async (token: string) => {
    try {
      const { keys } = await metadata()
      const { sub, sid } = await verifyLogoutToken(token, { keys, issuer, clientId })
      await endSessions(db, { issuer, sub, sid })
    } catch (thrown) {
      onRefusal(thrown)
      throw thrown
    }
  }
  return {
    ...createAdmission({ ...ports, proofs, providerId, domainsVariable: 'OIDC_DOMAINS' }),
    plugin: {
      id: 'identity-provider',
      init: ({ socialProviders }) => ({
        context: { socialProviders: [provider, ...socialProviders] },
      }),
      endpoints: { backChannelLogout: createBackChannelLogout(endByToken) },
    } satisfies BetterAuthPlugin,
    signUp: config.signUp,
    run: (request) => proofs.run({}, request),
    hasIdentity: () => proofs.getStore()?.identity !== undefined,
  }
}
