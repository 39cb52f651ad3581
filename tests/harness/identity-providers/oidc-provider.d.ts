/** The part of the certified provider that the tests use; the package has no types. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  interface Account {
    accountId: string
    claims: () => Record<string, unknown>
  }

  interface Configuration {
    clients: readonly Record<string, unknown>[]
    claims: Record<string, readonly string[]>
    scopes: readonly string[]
    features: Record<string, { enabled: boolean }>
    cookies: { keys: readonly string[] }
    findAccount: (context: unknown, id: string) => Account
  }

  export class Provider {
    constructor(issuer: string, configuration: Configuration)
    callback(): RequestListener
  }
}
