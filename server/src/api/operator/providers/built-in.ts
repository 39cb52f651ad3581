import type { AnsweredProvider } from './schema'
import type { Catalog } from '../../../catalog/catalog'
import { invalidRequest } from '../../../errors'
import { RelayOptions, type Provider } from '../../../providers/provider'

const usual = new Map<string, unknown>(Object.entries(RelayOptions.parse({})))

/** The options in which a provider differs from OpenAI. */
const optionsOf = ({ options }: Provider): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(options).filter(([name, value]) => !Bun.deepEquals(value, usual.get(name))),
  )

const toAnswer = (provider: Provider): AnsweredProvider => ({
  id: provider.key,
  key: provider.key,
  name: provider.name,
  adapter: provider.dialect,
  base_url: provider.baseUrl,
  auth: provider.authHeader,
  keyless: provider.keyless,
  description: null,
  website: provider.website,
  logo_url: null,
  enabled: true,
  options: optionsOf(provider),
  built_in: true,
  created_at: null,
  updated_at: null,
})

/** Lists the built-in providers whose key or name contains `search`. */
export function listBuiltIn({ fixed }: Catalog, search = ''): AnsweredProvider[] {
  const term = search.toLowerCase()
  return fixed.providers
    .filter(({ key, name }) => `${key}\n${name}`.toLowerCase().includes(term))
    .map(toAnswer)
}

/** Returns the built-in provider with this key; undefined without one. */
export function findBuiltIn({ fixed }: Catalog, key: string): AnsweredProvider | undefined {
  const provider = fixed.providers.find((one) => one.key === key)
  return provider && toAnswer(provider)
}

/** Throws `wrong_state` for a built-in provider. */
export function refuseBuiltIn(catalog: Catalog, key: string): void {
  const provider = findBuiltIn(catalog, key)
  if (!provider) return
  throw invalidRequest(
    null,
    'wrong_state',
    `${provider.name} is built in. Create a connection to it with a custom address, or add another provider.`,
  )
}
