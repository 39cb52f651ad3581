import { createHash } from 'node:crypto'
import type { ProviderConnection } from './snapshot'
import { ConnectionOptions } from '../providers/connection-options'
import { deriveAddress } from '../providers/own-address'
import type { Provider } from '../providers/provider'
import { baseUrlVariable } from '../providers/define-provider'

type Environment = Readonly<Record<string, string | undefined>>

interface EnvironmentPorts {
  /** Reads a file as text; undefined where it cannot be read. */
  readFile: (path: string) => string | undefined
}

/** The same variable gives the same connection id at every start, on every node. */
const idOf = (name: string) =>
  `conn_${createHash('sha256').update(`environment ${name}`).digest('hex').slice(0, 26)}`

/**
 * Creates a platform connection for each provider whose key is set in the environment, and for those of the process
 * itself. A key without the account that the address needs belongs to another service: no connection.
 */
export function createEnvironmentConnections(
  environment: Environment,
  providers: readonly Provider[],
  { readFile }: EnvironmentPorts = { readFile: () => undefined },
): ProviderConnection[] {
  return providers.flatMap((provider) => {
    const key = keyOf(provider, environment, readFile)
    const isBuiltIn = provider.dialect === 'sandbox'
    if (!key && !isBuiltIn) return []
    const secret = key?.secret ?? null
    const options = optionsOf(provider, environment)
    const baseUrl = options && addressOf({ provider, secret, options }, environment)
    if (!options || baseUrl === undefined) return []
    return {
      id: idOf(key?.variable ?? provider.key),
      provider: provider.key,
      name: key?.variable ?? provider.name,
      baseUrl,
      secret,
      options,
      network: null,
      headers: null,
      priority: 100,
      owner: null,
      isDefault: false,
      isFailing: false,
      rpm: null,
      tpm: null,
      imagesPerMinute: null,
      audioSecondsPerMinute: null,
      gatewayId: null,
      onlyModels: null,
    }
  })
}

/** Returns a provider's credential, and the variable by which it is known; undefined where none is set. */
function keyOf(
  { keyVariables, keyFields = [], keyFiles = [] }: Provider,
  environment: Environment,
  readFile: EnvironmentPorts['readFile'],
): { variable: string; secret: string } | undefined {
  for (const variable of keyVariables) {
    const value = environment[variable]
    if (!value) continue
    const isPath = keyFiles.includes(variable) && !value.trimStart().startsWith('{')
    const secret = isPath ? readFile(value) : value
    if (secret) return { variable, secret }
  }
  const values = keyFields.map((variable) => environment[variable])
  const [variable] = keyFields
  if (variable === undefined || !values.slice(0, -1).every(Boolean)) return undefined
  return { variable, secret: values.filter(Boolean).join(':') }
}

/** Returns the provider's options; undefined where one that is set is invalid. */
function optionsOf({ optionVariables = {} }: Provider, environment: Environment) {
  const set = Object.entries(optionVariables).flatMap(([option, variable]) => {
    const value = environment[variable]
    return value ? [[option, value] as const] : []
  })
  return ConnectionOptions.safeParse(Object.fromEntries(set)).data
}

interface ProviderAccess {
  provider: Provider
  secret: string | null
  options: ConnectionOptions
}

/**
 * Returns the provider's address, or the one set in its place, with `{account}` and the like filled in; undefined
 * where one of them is not set, or the credential that names it is invalid.
 */
function addressOf(
  { provider, secret, options }: ProviderAccess,
  environment: Environment,
): string | null | undefined {
  const set = environment[baseUrlVariable(provider.key)]?.replace(/\/+$/, '')
  if (set || provider.baseUrl === null) return set || null
  try {
    const own = deriveAddress({ provider, connection: { baseUrl: null, secret, options } })
    if (own !== undefined) return own
  } catch {
    return undefined
  }
  if (Object.values(provider.variables).some((name) => !environment[name])) return undefined
  return provider.baseUrl.replaceAll(/\{(\w+)\}/g, (_braces, name: string) =>
    encodeURIComponent(environment[provider.variables[name] ?? ''] ?? ''),
  )
}
