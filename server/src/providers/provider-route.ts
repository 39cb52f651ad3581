import type { ConnectionHeaders } from './connection-headers'
import type { ConnectionOptions } from './connection-options'
import type { Provider } from './provider'

/** Whom a request goes to: a provider, and how it is reached. */
export interface ProviderRoute {
  provider: Provider
  connection: {
    /** Without a final slash; null for the provider's own. */
    baseUrl: string | null
    secret: string | null
    options: ConnectionOptions
    /** Headers of its own, sent with each request. */
    headers?: ConnectionHeaders | null | undefined
  }
}

/** The address of a line; a provider inside the process has none. */
export const addressOf = ({ provider, connection }: ProviderRoute): string =>
  connection.baseUrl ?? provider.baseUrl ?? ''
