import type { ValidatedRequest, RequestAttempt } from './request'
import { readPromptCaching, withPromptCaching } from './prompt-caching'
import { TurnSource, type Prepared } from './relay'
import type { Original } from '../protocols/dialect'
import type { Adapter, NativePassthrough, AdapterTarget } from '../providers/adapter'
import { omittedOf } from '../providers/omitted-fields'
import { selectChatRoute, selectResponsesRoute, type ChatRoute } from '../providers/chat-route'
import type { Model } from '../catalog/model'
import { strippedFrom } from '../metering/unpriced-fields'
import { ChatStream } from '../providers/openai/chat-stream'
import { CustomCallStream } from '../providers/custom-call-stream'
import type { RelayedStream, RelayRequest } from '../providers/openai/relayed-stream'
import {
  findFieldsOmittedByRelay,
  readOutputLimit,
  takesCustomTools,
  toUpstreamChat,
} from '../providers/openai/request'
import { withAcceptedToolNames } from '../providers/tool-names'
import { TranslatedStream } from '../providers/translated-stream'
import type { ErrorSource } from '../providers/upstream-error'
import type { UpstreamPayload } from '../upstream/attempt'
import { isByPrice } from '../routing/candidate'
import type { CallerChat } from '../wire/chat-request'
import { customToolsOf } from '../wire/custom-tools'
import type { HostedUses } from '../wire/hosted-uses'
import type { JsonObject } from '../wire/json-body'
import { toPlainChat } from '../wire/plain-chat'

/** The properties in which the endpoints that send chats differ. */
export interface ChatForm<Request> {
  textField: ErrorSource['textField']
  /** The output limit that the hold pays for where the body names none. */
  outputLimit: (turn: RequestAttempt<Request>) => number
  /** The media that were fetched for it. */
  media?: AdapterTarget['media'] | undefined
}

/** The inputs that decide the route of a request to a candidate. */
type Undecided = Pick<RequestAttempt<unknown>, 'model' | 'candidate'> & {
  checked: Pick<ValidatedRequest<unknown>, 'translation'>
}
type Shown = Undecided &
  Pick<RequestAttempt<CallerChat>, 'body'> & {
    checked: Pick<ValidatedRequest<CallerChat>, 'request'>
  }

/** The maximum uses of the tools that a candidate's provider runs for a request; undefined where it runs none. */
export function hostedUsesOf(
  turn: Undecided & Pick<RequestAttempt<unknown>, 'body'>,
): HostedUses | undefined {
  const original = turn.checked.translation?.original
  const uses = original?.hosted?.({ search: turn.model.pricing?.search })
  if (!original || !uses) return undefined
  const { adapter } = wayOf(turn, turn.body)
  return adapter?.own?.format === original.format ? uses : undefined
}

/** Whether a candidate's provider gets the service tier of a request. */
export function isServiceTierSent(
  turn: Undecided & Pick<RequestAttempt<unknown>, 'body'>,
): boolean {
  const { adapter, operation } = wayOf(turn, turn.body)
  if (adapter) return operation === 'responses'
  return !turn.candidate.provider.options.drop.includes('service_tier')
}

/** The URLs of images that must be fetched for a candidate, which does not fetch them itself. */
export function findImageUrls(turn: Shown): string[] {
  const { adapter } = wayOf(turn, turn.body)
  const { translation, request } = turn.checked
  const isPassedOn =
    adapter?.own !== undefined && adapter.own.format === translation?.original?.format
  if (!adapter?.addresses || isPassedOn || translation?.refusal) return []
  return adapter.addresses(request)
}

/**
 * Prepares a chat request for one candidate: relayed, or written by the adapter of its dialect. `chat` is the
 * attempt's body; for a legacy completion, the chat in its place.
 */
export function prepareChat<Request>(
  turn: RequestAttempt<Request>,
  chat: JsonObject,
  form: ChatForm<Request>,
): Prepared {
  const { translation } = turn.checked
  const body = translation ? fittingChat(chat, turn.model) : chat
  const way = wayOf(turn, body)
  const { adapter, deployment } = way
  const original = translation?.original
  if (original && adapter?.own?.format === original.format) {
    return passedOn({ turn, way, form }, { own: adapter.own, original, body })
  }
  if (translation?.refusal) throw translation.refusal
  const cached = withPromptCaching(body, turn, adapter !== undefined)
  const { chat: named, callerNames } = withAcceptedToolNames(cached, adapter?.toolNames)
  const { upstreamModel } = turn.model
  const { options } = turn.candidate.provider
  const customTools = customToolsOf(body)
  if (adapter) {
    const sent = translated({ turn, way, form }, adapter, { chat, body: named })
    return { ...sent, callerNames, customTools }
  }
  const target = { upstreamModel, options }
  const relayed = toUpstreamChat(named, target)
  const omitted = toldOmissions(turn, findFieldsOmittedByRelay(named, target))
  if (deployment !== undefined) relayed['model'] = deployment
  const source = new TurnSource(turn, form.textField)
  return {
    source,
    operation: way.operation,
    url: way.url,
    body: relayed,
    callerNames,
    customTools: takesCustomTools(target) ? undefined : customTools,
    omitted,
  }
}

interface Going<Request> {
  turn: RequestAttempt<Request>
  way: ChatRoute
  form: ChatForm<Request>
}

/** Passes through a request in the provider's own format. `body` is the chat that it stands for. */
function passedOn<Request>(
  { turn, way, form }: Going<Request>,
  { own, original, body }: { own: NativePassthrough; original: Original; body: JsonObject },
): Prepared {
  const { candidate, model } = turn
  const { operation, url, deployment } = way
  const omitted: string[] = []
  const allowed = allowedBody(original, turn, (field) => omitted.push(field))
  const promptCaching = readPromptCaching(turn)
  const write = (asked: JsonObject): UpstreamPayload => {
    const request = own.request(asked, {
      upstreamModel: model.upstreamModel,
      maxTokens: readOutputLimit(body)?.limit,
      promptCaching,
    })
    if (deployment !== undefined) request.body['model'] = deployment
    return { ...request, url, forwarded: original.headers }
  }
  const unsigned = own.unsigned?.(allowed)
  const sent = { model, body: original.body, candidate }
  return {
    source: new TurnSource(sent, form.textField),
    operation,
    ...write(allowed),
    own,
    omitted,
    ...(unsigned && {
      unsigned: () => write(unsigned),
      refusesSignatures: way.adapter?.refusesSignatures,
    }),
  }
}

/** The part of a request that a candidate's credential may be used for, and its price covers. */
function allowedBody(
  original: Original,
  { candidate, model }: Pick<RequestAttempt<unknown>, 'candidate' | 'model'>,
  omit: (field: string) => void,
): JsonObject {
  const { body, shared, own, paid } = original
  const { reasoning } = model.capabilities
  const fit = isShared(candidate) ? shared : own
  const safe = fit ? fit(body, { reasoning }) : body
  const { pricing } = model
  return pricing && isByPrice(candidate.billing) ? paid(safe, { pricing, omit }) : safe
}

/** The credential has other users than the caller, too. */
const isShared = ({ billing }: RequestAttempt<unknown>['candidate']) => billing.mode !== 'byok'

/** Written by an adapter; a second time where a provider may reject another model's signatures. */
function translated<Request>(
  { turn, way, form }: Going<Request>,
  adapter: Adapter,
  { chat, body }: { chat: JsonObject; body: JsonObject },
): Prepared {
  const { operation, url, deployment } = way
  const plain = toPlainChat(body)
  const { upstreamModel } = turn.model
  const knowsCustom = takesCustomTools({ upstreamModel, options: turn.candidate.provider.options })
  const customTools = knowsCustom ? customToolsOf(body) : undefined
  const target = { ...targetOf(turn, chat, form), customTools }
  const write = (
    signatures: AdapterTarget['signatures'],
  ): UpstreamPayload & Pick<Prepared, 'omitted'> => {
    const request = adapter.request(plain, { ...target, ...(signatures && { signatures }) })
    if (deployment !== undefined) request.body['model'] = deployment
    return { ...request, url, adapter }
  }
  const unsigned = adapter.refusesSignatures && (() => write('replaced'))
  const source = new TurnSource(turn, form.textField)
  const { omitted, ...sent } = write(undefined)
  return { source, operation, ...sent, unsigned, omitted: toldOmissions(turn, omitted) }
}

/** The omitted fields to report to the caller: those that `provider` does not get, and those without a price. */
function toldOmissions<Request>(
  { checked, body, model }: RequestAttempt<Request>,
  provider: readonly string[] = [],
): readonly string[] {
  const { translation, body: asked } = checked
  const stripped = strippedFrom(asked, body)
  if (!translation) return [...stripped, ...provider]
  const { omitted = [], callersField = (param: string) => param } = translation
  const unfit = fittingChat(asked, model) === asked ? [] : omittedOf(asked, ['reasoning_effort'])
  return [...omitted, ...[...stripped, ...unfit, ...provider].map(callersField)]
}

/** A level of thinking is a wish: a model that does not think would reject the field. */
function fittingChat(chat: JsonObject, { capabilities }: Model): JsonObject {
  if (capabilities.reasoning || chat['reasoning_effort'] === undefined) return chat
  const { reasoning_effort: _effort, ...rest } = chat
  return rest
}

/** A request for a Response is passed on as one, where the provider takes that. */
function wayOf({ model, candidate, checked }: Undecided, body: JsonObject): ChatRoute {
  const { upstreamModel } = model
  const original = checked.translation?.original
  const way =
    original?.format === 'responses'
      ? selectResponsesRoute(candidate, upstreamModel, { keepsId: !isShared(candidate) })
      : undefined
  return way ?? selectChatRoute(candidate, upstreamModel, body)
}

function targetOf<Request>(
  turn: RequestAttempt<Request>,
  chat: JsonObject,
  { outputLimit, media }: ChatForm<Request>,
): AdapterTarget {
  const { capabilities, upstreamModel } = turn.model
  return {
    upstreamModel,
    ...(media && { media }),
    maxTokens: readOutputLimit(chat)?.limit ?? outputLimit(turn),
    capabilities: {
      reasoning: capabilities.reasoning,
      tools: capabilities.tools,
      vision: capabilities.vision,
      jsonSchema: capabilities.json_schema,
    },
  }
}

/** Creates the reader of a candidate's stream: in its native format, by an adapter, or in ours. */
export function createChatStream(
  { own, adapter, customTools }: Pick<Prepared, 'own' | 'adapter' | 'customTools'>,
  request: RelayRequest,
): RelayedStream {
  if (own) return own.stream(request)
  const stream = adapter
    ? new TranslatedStream(adapter.reader(request.source), request)
    : new ChatStream(request)
  return customTools ? new CustomCallStream(stream, customTools) : stream
}
