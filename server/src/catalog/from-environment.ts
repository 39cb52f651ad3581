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
 * process itself.
 */
export function connectionsFrom(
  environment: Environment,
  providers: readonly Provider[],
): Connection[] {
  return providers.flatMap((provider) => {
    const variable = provider.keyVariables.find((name) => environment[name])
    const isInside = provider.dialect === 'sandbox'
    if (!variable && !isInside) return []
    return {
      id: idOf(variable ?? provider.key),
      provider: provider.key,
      name: variable ?? provider.name,
      baseUrl: addressOf(provider, environment),
      secret: variable ? (environment[variable] ?? null) : null,
      priority: 100,
      isDefault: false,
      onlyModels: null,
    }
  })
}

/** The provider's address, or the one set in its place; `{account}` and such are filled in. */
function addressOf(provider: Provider, environment: Environment): string | null {
  const set = environment[baseUrlVariable(provider.key)]?.replace(/\/+$/, '')
  if (set) return set
  return (
    provider.baseUrl?.replaceAll(/\{(\w+)\}/g, (_braces, name: string) =>
      encodeURIComponent(environment[provider.variables[name] ?? ''] ?? ''),
    ) ?? null
  )
}
