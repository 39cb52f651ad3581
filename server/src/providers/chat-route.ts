import type { Adapter } from './adapter'
import { adapterOf } from './adapters'
import { anthropic } from './anthropic'
import { toAzureCall, type AzureOperation } from './azure/address'
import { addressOf, type ProviderRoute } from './provider-route'
import type { Provider } from './provider'
import { responses } from './responses'
import { ownFormat } from './responses/native-passthrough'
import {
  needsResponses,
  getResponsesFlags,
  withKnownEffort,
  type ResponsesFlags,
} from './responses/needs-responses'
import { vertexGemini } from './vertex'
import { openaiChatPath, getSurface } from './vertex/address'
import { anthropicOnVertex } from './vertex/anthropic'
import type { JsonObject } from '../wire/json-body'
import { toPlainChat } from '../wire/plain-chat'

/** The route of a request that is relayed in the OpenAI format. */
export interface RelayRoute {
  /** The value for the model in the body, where it is not the model's own name. */
  deployment?: string
  /** The whole address, where it is no path behind the connection's. */
  url?: string
}

/** The route of one chat request over one connection. */
export interface ChatRoute extends RelayRoute {
  /** Undefined where it is relayed. */
  adapter?: Adapter
  operation: 'chat' | 'responses'
}

const relayed: ChatRoute = { operation: 'chat' }

/** Selects the route of a chat request by its provider's dialect, the model and the request's fields. */
export function selectChatRoute(line: ProviderRoute, model: string, chat: JsonObject): ChatRoute {
  const { provider } = line
  const adapter = adapterOf(provider)
  if (adapter) return { adapter, operation: 'chat' }
  if (provider.dialect === 'vertex') return vertexWay(line, model)
  const flags = responsesFlags(provider, model, chat)
  if (provider.dialect === 'azure') return azureWay(line, model, flags)
  return flags ? { adapter: responsesFor(flags), operation: 'responses' } : relayed
}

/** OpenAI's models, by the beginnings of their names. Of others Azure serves not all as Responses. */
const openAiModels = /^(gpt-4o|gpt-4\.1|gpt-[5-9]|o[1-9]|chatgpt|codex|computer-use)/

/**
 * Selects the route of a request for a Response to a provider that takes this format; undefined where it
 * does not. `keepsId`: as that of `ownFormat`.
 */
export function selectResponsesRoute(
  line: ProviderRoute,
  model: string,
  kept: { keepsId: boolean },
): ChatRoute | undefined {
  const { dialect, options } = line.provider
  const isChatOnly = options.chatOnlyModels.some((prefix) => model.startsWith(prefix))
  if (!options.takesResponses || isChatOnly) return undefined
  const adapter: Adapter = { ...responses, own: ownFormat(kept) }
  if (dialect === 'openai') return { adapter, operation: 'responses' }
  if (dialect !== 'azure' || !openAiModels.test(model)) return undefined
  const { url, model: deployment } = callOf(line, 'responses', model)
  // The older surfaces have no Responses.
  return url.includes('/openai/v1/')
    ? { adapter, operation: 'responses', url, deployment }
    : undefined
}

/** Selects the route of requests that are always relayed: embeddings, legacy completions. */
export function selectRelayRoute(
  line: ProviderRoute,
  model: string,
  operation: Exclude<AzureOperation, 'responses'>,
): RelayRoute {
  if (line.provider.dialect !== 'azure') return {}
  const { url, model: deployment } = callOf(line, operation, model)
  return { url, deployment }
}

const callOf = (line: ProviderRoute, operation: AzureOperation, model: string) => {
  const { api_version: apiVersion, deployments } = line.connection.options
  return toAzureCall({ baseUrl: addressOf(line), apiVersion, deployments }, operation, model)
}

function azureWay(
  line: ProviderRoute,
  model: string,
  flags: ResponsesFlags | undefined,
): ChatRoute {
  const call = callOf(line, 'chat', model)
  const { url, model: deployment } = call
  if (call.dialect === 'anthropic')
    return { adapter: anthropic, operation: 'chat', url, deployment }
  const response = flags && callOf(line, 'responses', model)
  // The older surfaces have no Responses.
  if (flags && response?.url.includes('/openai/v1/')) {
    return { adapter: responsesFor(flags), operation: 'responses', url: response.url, deployment }
  }
  return { operation: 'chat', url, deployment }
}

const claude = anthropicOnVertex(anthropic)

function vertexWay(line: ProviderRoute, upstreamModel: string): ChatRoute {
  const { surface, model } = getSurface(upstreamModel)
  if (surface !== 'openai') {
    return { adapter: surface === 'google' ? vertexGemini : claude, operation: 'chat' }
  }
  return { operation: 'chat', url: `${addressOf(line)}${openaiChatPath}`, deployment: model }
}

/** Returns the flags of a model that takes the request only as a Response; undefined for others. */
function responsesFlags(
  { options: { responsesModels } }: Provider,
  model: string,
  chat: JsonObject,
): ResponsesFlags | undefined {
  // Both forms of tools; nearly all requests have neither.
  if (!chat['tools'] && !chat['functions']) return undefined
  const flags = getResponsesFlags(responsesModels, model)
  return flags && needsResponses(flags, toPlainChat(chat)) ? flags : undefined
}

const responsesFor = (flags: ResponsesFlags): Adapter => ({
  ...responses,
  request: (chat, target) => responses.request(withKnownEffort(chat, flags), target),
})
