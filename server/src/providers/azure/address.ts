/** The settings of a connection to Azure. */
export interface AzureConnection {
  /** A resource's host, or the address of one of its surfaces, with or without final slash. */
  baseUrl: string
  /** `YYYY-MM-DD`, perhaps with `-preview`; the classic surface and Foundry's need one. */
  apiVersion?: string | undefined
  /** Model -> the deployment that stands for it, where they differ. */
  deployments?: Readonly<Record<string, string>> | undefined
}

/** The address and the format of one call. */
export interface AzureCall {
  url: string
  /** The model in the body; on the classic surface the address decides. */
  model: string
  /** Bodies of `openai`, or of `anthropic` for a Claude of Foundry's. */
  dialect: 'openai' | 'anthropic'
}

const operations = {
  chat: 'chat/completions',
  completions: 'completions',
  embeddings: 'embeddings',
  speech: 'audio/speech',
  responses: 'responses',
  transcriptions: 'audio/transcriptions',
  translations: 'audio/translations',
  images: 'images/generations',
  imageEdits: 'images/edits',
} as const
export type AzureOperation = keyof typeof operations

const classicVersion = '2024-10-21'
const foundryVersion = '2024-05-01-preview'

/**
 * Returns the address of a call: the newer `/openai/v1`, the classic one whose path names the deployment,
 * or Foundry's `/models`. A bare host is Foundry's by its name, classic where the connection gives a
 * version by date, else the newer one.
 * @see https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle
 */
export function toAzureCall(
  connection: AzureConnection,
  operation: AzureOperation,
  model: string,
): AzureCall {
  const { apiVersion } = connection
  const { pathname } = new URL(connection.baseUrl)
  const base = baseOf(connection)
  const path = operations[operation]
  const namedDeployment = connection.deployments?.[model]
  const deployment = namedDeployment ?? model
  const surface = surfaceOf(connection)
  if (surface === 'foundry' && /claude/i.test(model)) {
    return { url: `${base}/anthropic/v1/messages`, model: deployment, dialect: 'anthropic' }
  }
  const call = (url: string, version: string | undefined): AzureCall => ({
    url: version === undefined ? url : `${url}?api-version=${encodeURIComponent(version)}`,
    model: deployment,
    dialect: 'openai',
  })
  if (surface === 'foundry') return call(`${base}/models/${path}`, apiVersion ?? foundryVersion)
  if (surface === 'v1') return call(`${base}/openai/v1/${path}`, apiVersion)
  // An address that names its deployment wins, unless the map names one.
  const pathDeployment = namedDeployment === undefined ? deploymentIn(pathname) : undefined
  const step = pathDeployment ?? encodeURIComponent(deployment)
  return call(`${base}/openai/deployments/${step}/${path}`, apiVersion ?? classicVersion)
}

/** Returns the call that tests a connection: a list of models, or Foundry's description of its model. */
export function toAzureTestCall({ baseUrl, apiVersion }: AzureConnection) {
  const base = baseOf({ baseUrl })
  const surface = surfaceOf({ baseUrl, apiVersion })
  const dated = (path: string, version: string | undefined) =>
    `${base}${path}${version === undefined ? '' : `?api-version=${encodeURIComponent(version)}`}`
  switch (surface) {
    case 'v1':
      return { surface, url: dated('/openai/v1/models', apiVersion) }
    case 'classic':
      return { surface, url: dated('/openai/models', apiVersion ?? classicVersion) }
    default:
      return { surface, url: dated('/models/info', apiVersion ?? foundryVersion) }
  }
}

/** Returns the address in front of its surface: what precedes it is a gateway's path, and stays. */
function baseOf({ baseUrl }: Pick<AzureConnection, 'baseUrl'>): string {
  const { origin, pathname } = new URL(baseUrl)
  const surfaceAt = pathname.search(surfacePath)
  const before = surfaceAt < 0 ? pathname : pathname.slice(0, surfaceAt)
  return origin + before.replace(/\/+$/, '')
}

const surfacePath = /\/(openai|models|anthropic)(\/|$)/

const deploymentIn = (pathname: string) => /\/openai\/deployments\/([^/]+)/.exec(pathname)?.[1]

function surfaceOf({ baseUrl, apiVersion }: AzureConnection): 'v1' | 'classic' | 'foundry' {
  const { hostname, pathname } = new URL(baseUrl)
  if (/\/openai\/v1(\/|$)/.test(pathname)) return 'v1'
  if (deploymentIn(pathname) !== undefined) return 'classic'
  const isFoundry = hostname.endsWith('.services.ai.azure.com')
  if (isFoundry || /\/(models|anthropic)(\/|$)/.test(pathname)) return 'foundry'
  return apiVersion !== undefined && /^\d{4}-/.test(apiVersion) ? 'classic' : 'v1'
}

/** A token of Entra, which is a JSON Web Token. */
const entraToken = /^ey[\w-]+\.[\w-]+\.[\w-]+$/

/** The header of a connection's secret: a token as Bearer, a key under the name that is wanted. */
export function toAzureCredential(
  secret: string,
  dialect: AzureCall['dialect'],
): Record<string, string> {
  if (entraToken.test(secret)) return { authorization: `Bearer ${secret}` }
  return { [dialect === 'anthropic' ? 'x-api-key' : 'api-key']: secret }
}
