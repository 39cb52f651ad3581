import { AttemptSource } from './answer-facts'
import type { RequestAttempt, ValidatedRequest } from './attempt'
import { identified } from './identify-request'
import { reportOmissions, withKnownFields } from './omissions'
import { readPromptCaching, withPromptCaching } from './prompt-caching'
import { receivesUrls } from './url-receivers'
import type { Original } from '../protocols/dialect'
import type { AdapterTarget, UpstreamRequest } from '../providers/adapter'
import { selectChatRoute, type ChatRoute } from '../providers/chat-route'
import { replaceRefusedThoughts } from '../providers/openai/lost-thoughts'
import {
  findFieldsOmittedByRelay,
  readOutputLimit,
  startsWithOneOf,
  takesCustomTools,
  toUpstreamChat,
} from '../providers/openai/request'
import { withAcceptedToolNames } from '../providers/tool-names'
import type { ErrorSource, UpstreamFailure } from '../providers/upstream-error'
import { isByPrice } from '../routing/candidate'
import { decidesItself } from '../routing/preferences'
import { isSharedCredential } from '../shared-credentials/credential'
import { OmittedNames } from '../shared-credentials/omission'
import { toSharedOriginal } from '../shared-credentials/original'
import { rejectRemoteUrls } from '../shared-credentials/remote-urls'
import { rejectStoredInChat } from '../shared-credentials/stored-references'
import { PassthroughProtocol } from '../upstream/protocol/passthrough'
import type { ChatProtocol, OutgoingRequest } from '../upstream/protocol/protocol'
import { RelayProtocol } from '../upstream/protocol/relay'
import { TranslateProtocol } from '../upstream/protocol/translate'
import type { CallerChat } from '../wire/chat-request'
import { customToolsOf } from '../wire/custom-tools'
import type { HostedUses } from '../wire/hosted-uses'
import type { JsonObject } from '../wire/json-body'
import { toPlainChat } from '../wire/plain-chat'
import { readReasoning } from '../wire/reasoning-field'

/** The properties in which the endpoints that send chats differ. */
export interface ChatForm<Params> {
  textField: ErrorSource['textField']
  /** The output limit that the hold pays for where the body names none. */
  outputLimit: (attempt: RequestAttempt<Params>) => number
  /** The media that were fetched for it. */
  media?: AdapterTarget['media'] | undefined
}

/** The parts of an attempt that decide its route. */
type RoutableAttempt = Pick<RequestAttempt<unknown>, 'model' | 'candidate' | 'body'> & {
  request: Pick<ValidatedRequest<unknown>, 'translation'>
}
type ImageAttempt = RoutableAttempt & {
  request: Pick<ValidatedRequest<CallerChat>, 'params'>
}

/** The maximum uses of the tools that a candidate's provider runs for a request; undefined where it runs none. */
export function hostedUsesOf(attempt: RoutableAttempt): HostedUses | undefined {
  const { original } = attempt.request.translation ?? {}
  const uses = original?.hosted?.({ search: attempt.model.pricing?.search })
  return uses && routeOf(attempt, attempt.body).protocol === 'passthrough' ? uses : undefined
}

/** Whether a candidate's provider gets the service tier of a request. */
export function isServiceTierSent(attempt: RoutableAttempt): boolean {
  const route = routeOf(attempt, attempt.body)
  if (route.protocol !== 'relay') return route.operation === 'responses'
  return !attempt.candidate.provider.options.drop.includes('service_tier')
}

/** The URLs of images that must be fetched for a candidate, which does not fetch them itself. */
export function findImageUrls(attempt: ImageAttempt): string[] {
  const { translation, params } = attempt.request
  const route = routeOf(attempt, attempt.body)
  if (route.protocol !== 'translate' || translation?.refusal) return []
  return route.adapter.addresses?.(params) ?? []
}

/** Selects the route of a chat to a candidate: the one place that decides which protocol is spoken. */
function routeOf({ model, candidate, request }: RoutableAttempt, chat: JsonObject): ChatRoute {
  const { original } = request.translation ?? {}
  const native = original && {
    format: original.format,
    keepsId: !isSharedCredential(candidate),
  }
  return selectChatRoute(candidate, model.upstreamModel, { chat, native })
}

/** A chat on its way to one candidate. */
interface RoutedChat<Params> {
  attempt: RequestAttempt<Params>
  /** The attempt's body; for a legacy completion, the chat in its place. */
  chat: JsonObject
  /** The same, as far as the model takes it. */
  body: JsonObject
  form: ChatForm<Params>
}

/**
 * Chooses the protocol of a chat at one candidate, and writes the request. `chat` is the attempt's body; for a legacy
 * completion, the chat in its place. Throws `invalid_request` for a request that the candidate cannot take.
 */
export function chooseProtocol<Params>(
  attempt: RequestAttempt<Params>,
  chat: JsonObject,
  form: ChatForm<Params>,
): ChatProtocol {
  const { translation } = attempt.request
  const body = translation ? withKnownFields(chat, attempt.model) : chat
  const routedChat = { attempt, chat, body, form }
  const route = routeOf(attempt, body)
  const isShared = isSharedCredential(attempt.candidate)
  const getsUrls = !isShared || receivesUrls(attempt.candidate)
  if (route.protocol === 'passthrough' && translation?.original) {
    if (!getsUrls) rejectRemoteUrls(translation.original.body)
    return passThrough(routedChat, route, translation.original)
  }
  if (translation?.refusal) throw translation.refusal
  if (translation && isShared) rejectStoredInChat(body)
  const isFetching = route.protocol === 'translate' && route.adapter.addresses !== undefined
  if (!getsUrls) rejectRemoteUrls(body, isFetching ? form.media : undefined)
  return route.protocol === 'translate' ? translate(routedChat, route) : relay(routedChat, route)
}

/** Passes through a request in the provider's own format. */
function passThrough<Params>(
  { attempt, body, form }: RoutedChat<Params>,
  { passthrough, refusesSignatures, ...address }: Extract<ChatRoute, { protocol: 'passthrough' }>,
  original: Original,
): ChatProtocol {
  const { candidate, model } = attempt
  const { format } = passthrough
  const { names: omittedFields, add } = new OmittedNames()
  const { body: allowedBody, headers: forwardedHeaders } = toAllowedOriginal(original, attempt, add)
  const target = {
    upstreamModel: model.upstreamModel,
    maxTokens: readOutputLimit(body)?.limit,
    promptCaching: readPromptCaching(attempt),
  }
  const write = (source: JsonObject) => ({
    ...identified(toOutgoing(passthrough.request(source, target), address), format, attempt),
    forwarded: forwardedHeaders,
  })
  return new PassthroughProtocol({
    passthrough,
    request: write(allowedBody),
    source: new AttemptSource({ model, body: original.body, candidate }, form.textField),
    omitted: omittedFields,
    refusesSignatures,
    writeUnsigned() {
      const unsigned = passthrough.unsigned?.(allowedBody, target)
      return unsigned && write(unsigned)
    },
  })
}

/** The part of a request that a candidate's credential may be used for, and its price covers. */
function toAllowedOriginal(
  original: Original,
  { candidate, model }: Pick<RequestAttempt<unknown>, 'candidate' | 'model'>,
  omit: (field: string) => void,
): Pick<Original, 'body' | 'headers'> {
  const { body, headers, own, paid } = original
  const { pricing } = model
  const { reasoning } = model.capabilities
  const toPriced = (requestBody: JsonObject) =>
    pricing && isByPrice(candidate.billing) ? paid(requestBody, { pricing, omit }) : requestBody
  if (isSharedCredential(candidate)) {
    return toSharedOriginal(original, { credential: candidate, reasoning, toPriced, omit })
  }
  const pricedBody = toPriced(body)
  return { body: own ? own(pricedBody, { reasoning }) : pricedBody, headers }
}

/** Has the adapter of the provider's dialect write the request. */
function translate<Params>(
  { attempt, chat, body, form }: RoutedChat<Params>,
  { adapter, ...address }: Extract<ChatRoute, { protocol: 'translate' }>,
): ChatProtocol {
  const { chat: acceptedChat, callerNames } = withAcceptedToolNames(
    withPromptCaching(body, attempt, true),
    adapter.toolNames,
  )
  const plain = toPlainChat(acceptedChat)
  const target = toTarget(attempt, { chat, acceptedChat, form })
  const write = (request: UpstreamRequest) =>
    identified(toOutgoing(request, address), adapter.format, attempt)
  const { omitted, wish, ...upstreamRequest } = adapter.request(plain, target)
  return new TranslateProtocol({
    adapter,
    request: write(upstreamRequest),
    wish,
    writeUnsigned: () => write(adapter.request(plain, { ...target, signatures: 'replaced' })),
    source: new AttemptSource(attempt, form.textField),
    omitted: reportOmissions(attempt, [...(omitted ?? []), ...readReasoning(body).omitted]),
    callerNames,
    customTools: customToolsOf(body),
  })
}

type RouteAddress = Pick<ChatRoute, 'operation' | 'url' | 'deployment'>

/** A written request at the address of its route. */
function toOutgoing(
  { path, headers, body }: Pick<OutgoingRequest, 'path' | 'headers' | 'body'>,
  { operation, url, deployment }: RouteAddress,
): OutgoingRequest {
  if (deployment !== undefined) body['model'] = deployment
  return { operation, path, url, headers, body }
}

function toTarget<Params>(
  attempt: RequestAttempt<Params>,
  {
    chat,
    acceptedChat,
    form,
  }: { chat: JsonObject; acceptedChat: JsonObject; form: ChatForm<Params> },
): AdapterTarget {
  const { capabilities, upstreamModel } = attempt.model
  const { options } = attempt.candidate.provider
  const knowsCustomTools = takesCustomTools({ upstreamModel, options })
  return {
    upstreamModel,
    ...(form.media && { media: form.media }),
    maxTokens: readOutputLimit(chat)?.limit ?? form.outputLimit(attempt),
    capabilities: {
      reasoning: capabilities.reasoning,
      tools: capabilities.tools,
      vision: capabilities.vision,
      jsonSchema: capabilities.json_schema,
    },
    customTools: knowsCustomTools ? customToolsOf(acceptedChat) : undefined,
  }
}

/** A relayed request, and the fields that it lacks. */
interface WrittenChat {
  request: OutgoingRequest
  omittedFields: readonly string[]
}

/** Returns the function that writes a relayed request once more, where its provider refuses the thoughts in it. */
const toThoughtReplacement =
  <Params>({ request, omittedFields }: WrittenChat, attempt: RequestAttempt<Params>) =>
  (refusal: UpstreamFailure) => {
    const { options } = attempt.candidate.provider
    const replacement = replaceRefusedThoughts(refusal, request.body, options)
    return (
      replacement && {
        request: { ...request, body: replacement.body },
        omitted: reportOmissions(attempt, [...omittedFields, ...replacement.omitted]),
      }
    )
  }

/** Lets OpenRouter decide over the caller's own connection to it. */
export function addProviderField(
  body: JsonObject,
  { request, candidate }: Pick<RequestAttempt<unknown>, 'request' | 'candidate'>,
): void {
  const requestedProvider = request.preferences?.original
  if (requestedProvider && decidesItself(candidate)) body['provider'] = requestedProvider
}

/** Writes the request for a provider that speaks OpenAI's format. */
function relay<Params>(
  { attempt, body, form }: RoutedChat<Params>,
  { operation, url, deployment }: RouteAddress,
): ChatProtocol {
  const { upstreamModel, capabilities } = attempt.model
  const { options } = attempt.candidate.provider
  const target = { upstreamModel, options, isReasoning: capabilities.reasoning }
  const { chat, callerNames } = withAcceptedToolNames(withPromptCaching(body, attempt, false))
  const upstreamBody = toUpstreamChat(chat, target)
  if (deployment !== undefined) upstreamBody['model'] = deployment
  addProviderField(upstreamBody, attempt)
  const isStreamOnly = startsWithOneOf(upstreamModel, options.streamOnlyModels)
  if (isStreamOnly) {
    upstreamBody['stream'] = true
    if (options.streamUsage) upstreamBody['stream_options'] = { include_usage: true }
  }
  const request = identified({ operation, url, body: upstreamBody }, 'chat', attempt)
  const omittedFields = findFieldsOmittedByRelay(chat, target)
  return new RelayProtocol({
    request,
    source: new AttemptSource(attempt, form.textField),
    omitted: reportOmissions(attempt, omittedFields),
    replaceRefused:
      options.historyReasoning === 'strip'
        ? undefined
        : toThoughtReplacement({ request, omittedFields }, attempt),
    callerNames,
    customTools: takesCustomTools(target) ? undefined : customToolsOf(body),
    streamsOnly: isStreamOnly,
  })
}
