import { AsyncLocalStorage } from 'node:async_hooks'
import type { BetterAuthPlugin } from 'better-auth'
import { APIError, createAuthEndpoint } from 'better-auth/api'
import type { OAuthProvider } from 'better-auth/oauth2'
import type { Kysely } from 'kysely'
import { z } from 'zod'
import { acceptAssertion, storeRequest, takeIdentity } from './requests'
import {
  consumerPath,
  createServiceProvider,
  metadataPath,
  newRequestId,
  type ServiceProvider,
} from './service-provider'
import { confirmAddress } from '../accounts'
import { createAdmission, type RequestProof } from '../admission'
import { SignInRefusal, type ProvenIdentity } from '../identity'
import type { IdentityProvider } from '../identity-provider'
import { accountIdOf, codeOf, refusalPage } from '../sign-in-flow'
import { ProviderRejected } from '../requests'
import type { SamlConfig } from '../../../../platform/config/saml'
import type { Schema } from '../../../../platform/db/schema'
import type { OperatorRole } from '../../../../platform/operator-role'

/** The name of the identity provider in paths and in the rows of linked accounts. */
const providerId = 'saml'

interface SamlPorts {
  config: SamlConfig
  db: Kysely<Schema>
  /** The public base URL of the service, without a final slash. */
  address: string
  setRole: (userId: string, role: OperatorRole | null) => Promise<void>
  onRefusal: (error: unknown) => void
}

/**
 * Creates the sign-in by an identity provider over SAML 2.0. The library of sign-in keeps state and verifier in the
 * browser as for OAuth: the assertion, which comes from another site without cookies, leads the browser with a code to
 * where OAuth ends, and only the browser that began can use it. Source: contract 2.5.
 */
export function createSamlProvider(ports: SamlPorts): IdentityProvider {
  const { config, db, address, onRefusal } = ports
  const proofs = new AsyncLocalStorage<RequestProof>()
  const service = createServiceProvider(config, db, `${address}/api/auth`)
  const lead = (thrown: unknown) => {
    onRefusal(thrown)
    return new APIError('FOUND', undefined, { location: refusalPage(codeOf(thrown)) })
  }
  const onIdentity = async (identity: ProvenIdentity) => {
    await confirmAddress(db, identity.email)
    const proof = proofs.getStore()
    if (proof) proof.identity = identity
  }
  const provider = createProvider({ config, db, service, onIdentity, lead })
  return {
    ...createAdmission({
      ...ports,
      proofs,
      providerId,
      domainsVariable: 'SAML_DOMAINS',
    }),
    plugin: {
      id: 'saml',
      init: ({ socialProviders }) => ({
        context: {
          socialProviders: [provider, ...socialProviders],
          // A form of the provider's site arrives here; it is signed, and no cookie counts for it.
          skipOriginCheck: [consumerPath],
        },
      }),
      endpoints: {
        samlMetadata: createMetadata(service),
        samlConsumer: createConsumer({ db, service, lead }),
      },
    } satisfies BetterAuthPlugin,
    signUp: config.signUp,
    run: (request) => proofs.run({}, request),
    hasIdentity: () => proofs.getStore()?.identity !== undefined,
  }
}

interface FlowPorts {
  config: SamlConfig
  db: Kysely<Schema>
  service: ServiceProvider
  /** Receives the identity of the running request, before the library looks for its account. */
  onIdentity: (identity: ProvenIdentity) => Promise<void>
  /** Reports a refusal; returns the redirect to its page. */
  lead: (thrown: unknown) => APIError
}

function createProvider({ config, db, service, onIdentity, lead }: FlowPorts) {
  return {
    id: providerId,
    name: config.name,
    options: { disableIdTokenSignIn: true },
    accountSubject: ({ profile }) =>
      accountIdOf(config.issuer, 'sub' in profile ? String(profile.sub) : ''),
    async createAuthorizationURL({ state, codeVerifier }) {
      const id = newRequestId()
      await storeRequest(db, { id, verifier: codeVerifier })
      return new URL(await service.signInAddress(id, state))
    },
    validateAuthorizationCode: ({ code, codeVerifier }) =>
      Promise.resolve({ raw: { code, codeVerifier } }),
    async getUserInfo({ raw = {} }) {
      const { code, codeVerifier: verifier } = raw
      if (typeof code !== 'string' || typeof verifier !== 'string') return null
      const identity = await takeIdentity(db, { code, verifier })
      if (!identity) throw lead(new ProviderRejected('the code of a sign-in is not known'))
      await onIdentity(identity)
      const { email, name, subject } = identity
      return { user: { email, name, emailVerified: true }, data: { sub: subject } }
    },
  } satisfies OAuthProvider
}

/**
 * Creates the endpoint that describes this service provider. Source:
 * https://docs.oasis-open.org/security/saml/v2.0/saml-metadata-2.0-os.pdf
 */
const createMetadata = (service: ServiceProvider) =>
  createAuthEndpoint(metadataPath, { method: 'GET' }, () => {
    const headers = { 'content-type': 'application/samlmetadata+xml' }
    return Promise.resolve(new Response(service.metadata(), { headers }))
  })

/**
 * Creates the endpoint that receives assertions by HTTP-POST. Source:
 * https://docs.oasis-open.org/security/saml/v2.0/saml-bindings-2.0-os.pdf (3.5)
 */
const createConsumer = ({ db, service, lead }: Pick<FlowPorts, 'db' | 'service' | 'lead'>) =>
  createAuthEndpoint(
    consumerPath,
    {
      method: 'POST',
      body: z.object({ SAMLResponse: z.string(), RelayState: z.string().max(1000).default('') }),
      metadata: { allowedMediaTypes: ['application/x-www-form-urlencoded'] },
    },
    async (ctx) => {
      const code = newRequestId()
      try {
        const { requestId, id: assertionId, identity } = await service.verify(ctx.body.SAMLResponse)
        if (!(await acceptAssertion(db, { requestId, assertionId, identity, code }))) {
          throw new ProviderRejected('the assertion was used before')
        }
      } catch (thrown) {
        const isExpected = thrown instanceof ProviderRejected || thrown instanceof SignInRefusal
        throw isExpected ? lead(thrown) : thrown
      }
      const query = new URLSearchParams({ code, state: ctx.body.RelayState })
      throw ctx.redirect(`${ctx.context.baseURL}/callback/${providerId}?${query.toString()}`)
    },
  )
