import { parseArgs } from 'node:util'
import { gatewayTokenShape } from '@tollgate/server/auth/api-key'
import { providers } from '@tollgate/server/providers/registry'
import { formatArgumentError } from '@tollgate/server/server/argument-error'
import { isLoopback, proxyFor, serverAddress, socketAddress } from './address'
import { readConfigFile, readSecretFile, type ConfigFile } from './config-file'
import type { ServerSettings } from './model-server'
import { assertDistinct } from './tools/announced-name'
import type { ToolServerSettings } from './tools/tool-server'
import { UsageError, type Secrets } from './text'

export type Environment = Readonly<Record<string, string | undefined>>

/** The settings of the agent, read once. */
export interface Settings {
  /** The address of the socket. */
  address: string
  token: string
  proxy: string | undefined
  /** Undefined: servers on this machine are discovered. */
  servers: ServerSettings[] | undefined
  tools: ToolServerSettings[]
  isCheck: boolean
  isJson: boolean
}

const options = {
  url: { type: 'string' },
  serve: { type: 'string', multiple: true },
  config: { type: 'string' },
  check: { type: 'boolean' },
  json: { type: 'boolean' },
  insecure: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Parses the arguments, undefined where help is requested. Throws `UsageError`. */
export function readArguments(args: string[]) {
  try {
    const { values } = parseArgs({ args, options })
    return values.help ? undefined : values
  } catch (thrown) {
    throw new UsageError(`${formatArgumentError(thrown)} See tollgate connect --help.`)
  }
}
type Arguments = NonNullable<ReturnType<typeof readArguments>>

/** Reads all settings, and the secrets to redact. Throws `UsageError`. */
export function readSettings(
  parsed: Arguments,
  environment: Environment,
  secrets: Secrets,
): Settings {
  const file = parsed.config === undefined ? undefined : readConfigFile(parsed.config)
  const url = parsed.url ?? file?.url
  if (!url)
    throw new UsageError(
      'The address of Tollgate is missing. Pass --url https://tollgate.example.com.',
    )
  const address = socketAddress(url, parsed.insecure ? 'insecure' : 'secure')
  const token = readToken(file, environment)
  secrets.add(token)
  const servers = [
    ...(parsed.serve ?? []).map(servedRow),
    ...(file?.servers ?? []).map((row) => ({ ...row, baseUrl: row.base_url })),
  ].map((row) => toServer(row, environment))
  const tools = (file?.tools ?? []).map((row) => toToolServer(row, environment))
  assertDistinct(tools)
  for (const secret of [...servers.map(({ apiKey }) => apiKey), ...tools.flatMap(secretsOf)]) {
    if (secret) secrets.add(secret)
  }
  return {
    address,
    token,
    proxy: proxyFor(address, environment),
    servers: servers.length > 0 ? servers : undefined,
    tools,
    isCheck: parsed.check === true,
    isJson: parsed.json === true,
  }
}

/** Returns the variables that are secret by their names: others, such as a folder, must stay readable in logs. */
function secretsOf({ reach }: ToolServerSettings): (string | undefined)[] {
  if ('url' in reach) return [reach.token]
  return Object.entries(reach.configured).flatMap(([name, value]) =>
    /KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH/i.test(name) ? [value] : [],
  )
}

function readToken(file: ConfigFile | undefined, environment: Environment): string {
  const token =
    environment['TOLLGATE_GATEWAY_TOKEN']?.trim() ||
    (file?.token_file && readSecretFile(file.token_file, 'token file'))
  if (!token) {
    throw new UsageError(
      'There is no gateway token: set TOLLGATE_GATEWAY_TOKEN, or token_file in the configuration. POST /api/gateways creates one.',
    )
  }
  if (gatewayTokenShape.test(token)) return token
  throw new UsageError(
    token.startsWith('sk-tg-')
      ? 'This is a service key, not a gateway token: POST /api/gateways creates one.'
      : 'The gateway token is incomplete: it is gt-tg- and 49 letters and digits.',
  )
}

/** Servers on this machine by name, with their usual addresses. To Tollgate all are `local`. */
const localServers: Readonly<Record<string, string>> = {
  ollama: 'http://127.0.0.1:11434/v1',
  vllm: 'http://127.0.0.1:8000/v1',
  lmstudio: 'http://127.0.0.1:1234/v1',
  llamacpp: 'http://127.0.0.1:8080/v1',
}

type Row = Omit<ConfigFile['servers'][number], 'base_url'> & { baseUrl: string | undefined }

/** Parses `--serve <name>` or `--serve <name>=<address>`. */
function servedRow(serve: string): Row {
  const at = serve.indexOf('=')
  const name = at < 0 ? serve : serve.slice(0, at)
  const address = at < 0 ? undefined : serve.slice(at + 1)
  if (!/^[A-Za-z0-9][\w.-]{0,199}$/.test(name) || address === '') {
    throw new UsageError(
      `--serve is "provider" or "provider=address", as in ollama=http://127.0.0.1:11434/v1.`,
    )
  }
  const local = Object.hasOwn(localServers, name) ? localServers[name] : undefined
  return { provider: local ? 'local' : name, baseUrl: address ?? local }
}

function toServer(row: Row, environment: Environment): ServerSettings {
  const { provider, models } = row
  const preset = providers.find(({ key }) => key === provider)
  const usual =
    preset?.dialect === 'openai' && !preset.baseUrl?.includes('{') ? preset.baseUrl : null
  if (!row.baseUrl && !usual) {
    throw new UsageError(
      `--serve ${provider} needs an address: ${provider}=http://..., of a server that speaks the OpenAI format.`,
    )
  }
  const baseUrl = serverAddress(row.baseUrl ?? usual ?? '')
  const apiKey = keyOf(row, { baseUrl, environment })
  if (apiKey && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new UsageError(`The key of ${provider} has characters that a key cannot have.`)
  }
  return { provider, baseUrl, models, apiKey }
}

/** Resolves the key of a server. The usual variable of a provider is for its own address only. */
function keyOf(row: Row, { baseUrl, environment }: { baseUrl: string; environment: Environment }) {
  const { provider, api_key_env: name, api_key_file: path } = row
  if (path) return readSecretFile(path, 'key file')
  if (name) {
    const key = environment[name]?.trim()
    if (!key) throw new UsageError(`${name}, the key of ${provider}, is not set.`)
    return key
  }
  const preset = providers.find(({ key, baseUrl: own }) => key === provider && own === baseUrl)
  if (!preset) return undefined
  const key = preset.keyVariables.map((variable) => environment[variable]?.trim()).find(Boolean)
  if (key || preset.keyless) return key
  throw new UsageError(`${provider} requires a key: set ${preset.keyVariables[0]}.`)
}

/** Variables that a tool process inherits. */
const inherited = ['PATH', 'HOME']

function toToolServer(
  row: ConfigFile['tools'][number],
  environment: Environment,
): ToolServerSettings {
  const { name, allow } = row
  if ('url' in row) {
    const url = serverAddress(row.url)
    if (url.startsWith('http:') && !isLoopback(new URL(url))) {
      throw new UsageError(`The tools of ${name} would be reached unencrypted: use https.`)
    }
    const token = row.token_file
      ? readSecretFile(row.token_file, 'token file')
      : row.token_env && environment[row.token_env]?.trim()
    if (row.token_env && !token) {
      throw new UsageError(`${row.token_env}, the token of the tools of ${name}, is not set.`)
    }
    return { name, allow, reach: { url, token: token || undefined } }
  }
  const own = inherited.flatMap((variable) => {
    const value = environment[variable]
    return value === undefined ? [] : [[variable, value] as const]
  })
  const { command, args, env } = row
  return {
    name,
    allow,
    reach: { command, args, configured: env, environment: { ...Object.fromEntries(own), ...env } },
  }
}
