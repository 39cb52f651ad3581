import { toAzureCredential } from './azure/address'
import { readCredential, withCredential } from './bedrock/credentials'
import type { Provider } from './provider'
import type { ProviderRoute } from './provider-route'
import { toCallerError, type ErrorSource } from './upstream-error'
import { AccessTokens, type TokenPorts } from './vertex/access-tokens'
import { isServiceAccount, readServiceAccount, type ServiceAccount } from './vertex/service-account'

/** A request as it is about to be sent. */
interface UnauthenticatedRequest {
  /** POST unless it is set. */
  method?: 'GET' | 'POST'
  url: string
  headers: Readonly<Record<string, string>>
  body: string
}

/** Authenticates one request, where that takes more than a header with the secret. */
export interface RequestAuthenticator {
  /** All headers. Rejects with `provider_error` where none can be had, and as `TokenPorts.send` does. */
  headers: (request: UnauthenticatedRequest) => Promise<Record<string, string>>
  /** The provider took it for none. True where the next one may be another. */
  refused: () => boolean
}

/** The header that holds a connection's secret; none where a `RequestAuthenticator` takes its place. */
export function toSecretHeader(
  { provider, connection }: ProviderRoute,
  url: string,
): Record<string, string> {
  const { secret } = connection
  if (secret === null || isProven({ provider, connection })) return {}
  if (provider.dialect === 'azure') {
    return toAzureCredential(secret, /\/anthropic\//.test(url) ? 'anthropic' : 'openai')
  }
  const isBearer = provider.authHeader === 'authorization'
  return {
    [provider.authHeader]: isBearer ? `${provider.authScheme ?? 'Bearer'} ${secret}` : secret,
  }
}

/** Whether a header, by its name in lower case, holds the secret of connections to a provider. */
export const isSecretHeader = ({ dialect, authHeader }: Provider, name: string): boolean =>
  name === authHeader || (dialect === 'azure' && (name === 'api-key' || name === 'x-api-key'))

const isProven = ({ provider: { dialect }, connection: { secret } }: ProviderRoute): boolean =>
  secret !== null && (dialect === 'bedrock' || (dialect === 'vertex' && isServiceAccount(secret)))

const maxAccounts = 1000

/** The authenticators of this process; tokens are shared by all requests of an account. */
export class Credentials {
  readonly #ports: TokenPorts
  /** Secret -> its tokens. */
  readonly #accounts = new Map<string, AccessTokens>()

  constructor(ports: TokenPorts) {
    this.#ports = ports
  }

  /**
   * Returns the authenticator of a connection; undefined where `secretHeader` suffices. Throws `provider_error`
   * for a damaged secret.
   */
  authenticatorFor(line: ProviderRoute): RequestAuthenticator | undefined {
    if (!isProven(line)) return undefined
    const { provider, connection } = line
    const secret = connection.secret ?? ''
    if (provider.dialect === 'bedrock') return signing(secret, connection.options.region)
    return bearerAuthenticator(this.#tokensOf(provider.key, secret))
  }

  #tokensOf(provider: string, secret: string): AccessTokens {
    const cached = this.#accounts.get(secret)
    if (cached) return cached
    const source = {
      provider,
      secret,
      textField: 'messages' as const,
      wasSent: () => false,
      contextLength: null,
      maxOutputTokens: null,
    }
    const tokens = new AccessTokens(accountIn(secret, source), this.#ports, source)
    if (this.#accounts.size >= maxAccounts) this.#accounts.clear()
    this.#accounts.set(secret, tokens)
    return tokens
  }
}

/** A key file that cannot be read is the connection's fault, as a refused one is. */
function accountIn(secret: string, source: ErrorSource): ServiceAccount {
  try {
    return readServiceAccount(secret)
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : ''
    throw toCallerError({ status: 401, body: { error: { message: reason } } }, source)
  }
}

/** A signature covers the other headers and the body. */
const signing = (secret: string, region: string | undefined): RequestAuthenticator => ({
  headers: (request) => withCredential({ ...request, region }, readCredential(secret), new Date()),
  refused: () => false,
})

function bearerAuthenticator(tokens: AccessTokens): RequestAuthenticator {
  let token = ''
  return {
    headers: async ({ headers }) => {
      token = await tokens.get()
      return { ...headers, authorization: `Bearer ${token}` }
    },
    refused: () => {
      tokens.invalidate(token)
      return true
    },
  }
}
