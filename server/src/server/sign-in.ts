import type { Logger } from 'pino'
import { accountPorts, identityProviderPorts } from './identity-provider'
import type { Storage } from './storage'
import { findAccountIn } from '../auth/find-api-key'
import { StartError, type Config } from '../platform/config/config'
import type { Sessions } from '../http/session'
import type { LiveSettings } from '../platform/settings/live-settings'
import { createSignInLink } from '../auth/sign-in/link'
import type { OAuthClient, SignIn } from '../auth/sign-in/sign-in'
import { readInstallationSecret } from '../platform/db/installation-secret'
import type { Egress } from '../upstream/http/egress'

interface Dependencies {
  config: Config
  settings: LiveSettings
  storage: Storage
  log: Logger
}

/** The way out to the identity provider. */
interface Sending {
  egress: Pick<Egress, 'send'>
}

/** Sign-in, which is loaded at the first use, as most nodes never need it. */
export interface SignInService extends Sessions {
  answer: SignIn['answer']
  /** Creates a link that signs an account in, once. */
  linkFor: (email: string, lifeMs: number) => Promise<string>
}

const isSession = /(^|;\s*)(__Secure-)?tollgate\.session_token=/

/** Creates sign-in; `address` is called once the server listens. Throws `StartError` for an incomplete OAuth client. */
export function createSignInService(
  dependencies: Dependencies,
  { egress }: Sending,
  address: () => string,
): SignInService {
  const { config, settings, storage, log } = dependencies
  const db = storage.database.query
  const providers = readOauthClients(config)
  const lookUp = findAccountIn(storage.database)
  const load = async () => {
    const [{ createSignIn }, secret, identityProvider] = await Promise.all([
      import('../auth/sign-in/sign-in'),
      readInstallationSecret(db, storage.installation.sealingKeys, 'sign-in'),
      loadIdentityProvider({ ...dependencies, egress }, address()),
    ])
    return createSignIn({
      db,
      secret,
      address: address(),
      providers,
      signUp: () => settings.current.signUp,
      identityProvider,
      sendsMail: config.mail !== undefined,
      onError: (err) => log.error({ err }, 'a sign-in request failed'),
    })
  }
  let loadedSignIn: Promise<SignIn> | undefined
  const signIn = () => {
    loadedSignIn ??= load().catch((thrown: unknown) => {
      // The next request tries again.
      loadedSignIn = undefined
      throw thrown
    })
    return loadedSignIn
  }
  return {
    answer: async (request, clientAddress) => (await signIn()).answer(request, clientAddress),
    linkFor: (email, lifeMs) => createSignInLink(db, { email, address: address(), lifeMs }),
    async signedIn(headers) {
      if (!isSession.test(headers.get('cookie') ?? '')) return undefined
      const userId = await (await signIn()).userOf(headers)
      return userId === undefined ? undefined : lookUp(userId)
    },
  }
}

/** Creates the sign-in by the identity provider; undefined where none is configured. */
async function loadIdentityProvider(
  { config, ...dependencies }: Dependencies & Sending,
  address: string,
) {
  if (config.saml) {
    const { createSamlProvider } =
      await import('../auth/sign-in/identity-provider/saml/saml-provider')
    const db = dependencies.storage.database.query
    const ports = accountPorts(config.saml, dependencies)
    return createSamlProvider({ config: config.saml, db, address, ...ports })
  }
  if (!config.identityProvider) return undefined
  const { createIdentityProvider } =
    await import('../auth/sign-in/identity-provider/identity-provider')
  return createIdentityProvider(identityProviderPorts(config.identityProvider, dependencies))
}

/** Returns the external sign-in providers whose client id and secret are both set. */
export function readOauthClients({ environment }: Config) {
  const github = oauthClient(environment, 'GITHUB')
  const google = oauthClient(environment, 'GOOGLE')
  return { ...(github && { github }), ...(google && { google }) }
}

function oauthClient(source: Config['environment'], name: string): OAuthClient | undefined {
  const clientId = source[`${name}_CLIENT_ID`]
  const clientSecret = source[`${name}_CLIENT_SECRET`]
  if (clientId && clientSecret) return { clientId, clientSecret }
  if (!clientId && !clientSecret) return undefined
  throw new StartError(`${name}_CLIENT_ID and ${name}_CLIENT_SECRET: set both, or neither.`)
}
