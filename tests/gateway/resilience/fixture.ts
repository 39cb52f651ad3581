import { startKeyedUpstream, type KeyedUpstream } from './keyed-upstream'
import { startBilling, type Billing } from '../../harness/ledger'

/** A gateway that passes over what fails for a second at most, and providers behind it. */
export interface Fixture extends AsyncDisposable {
  billing: Billing
  upstream: KeyedUpstream
  /** A provider with a connection for each key, in that order. Returns the id of its model. */
  provider: (key: string, secrets: readonly string[]) => Promise<string>
}

/** Starts them. */
export async function createFixture(environment = { BREAKER_SECONDS: '1' }): Promise<Fixture> {
  const upstream = startKeyedUpstream()
  const billing = await startBilling({ environment })
  const { gateway } = billing.rig
  return {
    billing,
    upstream,
    async provider(key, secrets) {
      const fields = { key, name: key, adapter: 'openai', base_url: upstream.url }
      await gateway.admin('POST', '/providers', fields)
      for (const [place, secret] of secrets.entries()) {
        const connection = { name: secret, provider: key, api_key: secret, priority: place + 1 }
        // The first of a provider would be its default.
        await gateway.admin('POST', '/connections', { ...connection, is_default: place === 0 })
      }
      const id = `${key}/m`
      await gateway.admin('POST', '/models', {
        id,
        name: 'm',
        category: 'chat',
        context_length: 8192,
        max_output_tokens: 4096,
        pricing: { input: 1, output: 4 },
      })
      return id
    },
    async [Symbol.asyncDispose]() {
      await billing[Symbol.asyncDispose]()
      await upstream[Symbol.asyncDispose]()
    },
  }
}
