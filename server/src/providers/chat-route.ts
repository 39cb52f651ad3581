import type { Adapter, NativePassthrough } from './adapter'
import { adapterOf } from './adapters'
import { anthropic } from './anthropic'
import { messagesPassthrough } from './anthropic/native-passthrough'
import { toAzureCall, type AzureOperation } from './azure/address'
import { addressOf, type ProviderRoute } from './provider-route'
import type { Provider } from './provider'
import { responses } from './responses'
import { responsesPassthrough } from './responses/native-passthrough'
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

/** The address of a request that is no path behind the connection's. */
interface RouteAddress {
  /** The value for the model in the body, where it is not the model's own name. */
  deployment?: string
  url?: string
}

interface RoutedOperation extends RouteAddress {
  operation: 'chat' | 'responses'
}

/** The route of one chat request over one connection, and the protocol spoken on it. */
export type ChatRoute =
  | (RoutedOperation & { protocol: 'relay' })
  | (RoutedOperation & { protocol: 'translate'; adapter: Adapter })
  | (RoutedOperation & {
      protocol: 'passthrough'
      passthrough: NativePassthrough
      refusesSignatures?: Adapter['refusesSignatures']
    })

/** The format in which a request arrived, where that is not OpenAI's chat. */
export interface NativeFormat {
  format: NativePassthrough['format']
  /** The credential is the caller's own: answers keep the id under which the provider stores them. */
  keepsId: boolean
}

/**
 * Selects the route of a chat request by its provider's dialect, the model, the request's fields, and the format in
 * which it arrived: a provider that speaks the same gets it passed through.
 */
export function selectChatRoute(
  line: ProviderRoute,
  model: string,
  { chat, native }: { chat: JsonObject; native: NativeFormat | undefined },
): ChatRoute {
  if (native?.format === 'responses') {
    const route = findResponsesRoute(line, model, native)
    if (route) return route
  }
  const { provider } = line
  const adapter = adapterOf(provider)
  if (adapter === anthropic) return anthropicRoute(native, {})
  if (adapter) return { protocol: 'translate', adapter, operation: 'chat' }
  if (provider.dialect === 'vertex') return vertexRoute(line, model)
  const flags = responsesFlags(provider, model, chat)
  if (provider.dialect === 'azure') return azureRoute(line, model, { flags, native })
  return flags ? responsesRoute(flags, {}) : relayed
}

const relayed = { protocol: 'relay', operation: 'chat' } as const

const anthropicRoute = (native: NativeFormat | undefined, address: RouteAddress): ChatRoute =>
  native?.format === 'messages'
    ? {
        protocol: 'passthrough',
        passthrough: messagesPassthrough,
        refusesSignatures: anthropic.refusesSignatures,
        operation: 'chat',
        ...address,
      }
    : { protocol: 'translate', adapter: anthropic, operation: 'chat', ...address }

/** OpenAI's models, by the beginnings of their names. Of others Azure serves not all as Responses. */
const openAiModels = /^(gpt-4o|gpt-4\.1|gpt-[5-9]|o[1-9]|chatgpt|codex|computer-use)/

/** Finds the route of a request for a Response to a provider that takes this format. */
function findResponsesRoute(
  line: ProviderRoute,
  model: string,
  native: NativeFormat,
): ChatRoute | undefined {
  const { dialect, options } = line.provider
  const isChatOnly = options.chatOnlyModels.some((prefix) => model.startsWith(prefix))
  if (!options.takesResponses || isChatOnly) return undefined
  const route = {
    protocol: 'passthrough',
    passthrough: responsesPassthrough(native),
    refusesSignatures: responses.refusesSignatures,
    operation: 'responses',
  } as const
  if (dialect === 'openai') return route
  if (dialect !== 'azure' || !openAiModels.test(model)) return undefined
  const { url, model: deployment } = callOf(line, 'responses', model)
  // The older surfaces have no Responses.
  return url.includes('/openai/v1/') ? { ...route, url, deployment } : undefined
}

/** Selects the address of requests that are always relayed: embeddings, legacy completions. */
export function selectRelayAddress(
  line: ProviderRoute,
  model: string,
  operation: Exclude<AzureOperation, 'responses'>,
): RouteAddress {
  if (line.provider.dialect !== 'azure') return {}
  const { url, model: deployment } = callOf(line, operation, model)
  return { url, deployment }
}

const callOf = (line: ProviderRoute, operation: AzureOperation, model: string) => {
  const { api_version: apiVersion, deployments } = line.connection.options
  return toAzureCall({ baseUrl: addressOf(line), apiVersion, deployments }, operation, model)
}

function azureRoute(
  line: ProviderRoute,
  model: string,
  { flags, native }: { flags: ResponsesFlags | undefined; native: NativeFormat | undefined },
): ChatRoute {
  const { url, model: deployment, dialect } = callOf(line, 'chat', model)
  if (dialect === 'anthropic') return anthropicRoute(native, { url, deployment })
  const response = flags && callOf(line, 'responses', model)
  // The older surfaces have no Responses.
  if (flags && response?.url.includes('/openai/v1/')) {
    return responsesRoute(flags, { url: response.url, deployment })
  }
  return { ...relayed, url, deployment }
}

const claude = anthropicOnVertex(anthropic)

function vertexRoute(line: ProviderRoute, upstreamModel: string): ChatRoute {
  const { surface, model } = getSurface(upstreamModel)
  if (surface !== 'openai') {
    const adapter = surface === 'google' ? vertexGemini : claude
    return { protocol: 'translate', adapter, operation: 'chat' }
  }
  return { ...relayed, url: `${addressOf(line)}${openaiChatPath}`, deployment: model }
}

/** The route of a chat that its model takes only as a Response. */
const responsesRoute = (flags: ResponsesFlags, address: RouteAddress): ChatRoute => ({
  protocol: 'translate',
  adapter: {
    ...responses,
    request: (chat, target) => responses.request(withKnownEffort(chat, flags), target),
  },
  operation: 'responses',
  ...address,
})

/** Returns the flags of a model that takes the request only as a Response; undefined for others. */
function responsesFlags(
  { options: { responsesModels } }: Provider,
  model: string,
  chat: JsonObject,
): ResponsesFlags | undefined {
  const flags = getResponsesFlags(responsesModels, model)
  if (!flags || flags.responsesOnly) return flags
  // Both forms of tools; nearly all requests have neither.
  if (!chat['tools'] && !chat['functions']) return undefined
  return needsResponses(flags, toPlainChat(chat)) ? flags : undefined
}
