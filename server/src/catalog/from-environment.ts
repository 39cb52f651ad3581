import { createHash } from 'node:crypto'
import type { Connection } from './snapshot'
import type { Provider } from '../providers/provider'
import { baseUrlVariable } from '../providers/registry'

type Environment = Readonly<Record<string, string | undefined>>

/** The same variable is the same connection at every start, on every node. */
const idOf = (name: string) =>
  `conn_${createHash('sha256').update(`environment ${name}`).digest('hex').slice(0, 26)}`

/**
 * A platform connection for each provider whose key is set in the environment, and for those of the
 * process itself. A key without the account that the address needs is somebody else's: no connection.
 */
export function connectionsFrom(
  environment: Environment,
  providers: readonly Provider[],
): Connection[] {
  return providers.flatMap((provider) => {
    const variable = provider.keyVariables.find((name) => environment[name])
    const isInside = provider.dialect === 'sandbox'
    if (!variable && !isInside) return []
    const baseUrl = addressOf(provider, environment)
    if (baseUrl === undefined) return []
    return {
      id: idOf(variable ?? provider.key),
      provider: provider.key,
      name: variable ?? provider.name,
      baseUrl,
      secret: variable ? (environment[variable] ?? null) : null,
      priority: 100,
      owner: null,
      isDefault: false,
      onlyModels: null,
    }
  })
}

/**
 * The provider's address, or the one set in its place; `{account}` and such are filled in, and it is
 * undefined where one of them is not set.
 */
function addressOf(provider: Provider, environment: Environment): string | null | undefined {
  const set = environment[baseUrlVariable(provider.key)]?.replace(/\/+$/, '')
  if (set || provider.baseUrl === null) return set || null
  if (Object.values(provider.variables).some((name) => !environment[name])) return undefined
  return provider.baseUrl.replaceAll(/\{(\w+)\}/g, (_braces, name: string) =>
    encodeURIComponent(environment[provider.variables[name] ?? ''] ?? ''),
  )
}
