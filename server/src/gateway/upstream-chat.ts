import type { CheckedRequest, Turn } from './job'
import { promptCachingOf, withPromptCaching } from './prompt-caching'
import { TurnSource, type Prepared } from './relay'
import type { Original } from '../dialects/dialect'
import type { Adapter, OwnFormat, Target } from '../providers/adapter'
import { omittedOf } from '../providers/omitted-fields'
import { chatWayOf, responsesWayOf, type ChatWay } from '../providers/chat-way'
import type { Model } from '../catalog/model'
import { strippedFrom } from '../metering/costly-fields'
import { ChatStream } from '../providers/openai/chat-stream'
import { CustomCallStream } from '../providers/custom-call-stream'
import type { RelayedStream, RelayRequest } from '../providers/openai/relayed-stream'
import {
  omittedByRelay,
  outputLimitOf,
  takesCustomTools,
  toUpstreamChat,
} from '../providers/openai/request'
import { withAcceptedToolNames } from '../providers/tool-names'
import { TranslatedStream } from '../providers/translated-stream'
import type { Source } from '../providers/upstream-error'
import type { Sent } from '../routing/attempt'
import { isByPrice } from '../routing/candidate'
import type { CallerChat } from '../wire/chat-request'
import { customToolsOf } from '../wire/custom-tools'
import type { HostedUses } from '../wire/hosted-uses'
import type { JsonObject } from '../wire/json-body'
import { toPlainChat } from '../wire/plain-chat'

/** What differs between the endpoints that ask for chats. */
export interface ChatForm<Request> {
  textField: Source['textField']
  /** The output limit that the hold pays for where the body names none. */
  outputLimit: (turn: Turn<Request>) => number
  /** What was fetched for it. */
  media?: Target['media'] | undefined
}

/** What decides on the way of a request to a candidate. */
type Undecided = Pick<Turn<unknown>, 'model' | 'candidate'> & {
  checked: Pick<CheckedRequest<unknown>, 'translation'>
}
type Shown = Undecided &
  Pick<Turn<CallerChat>, 'body'> & { checked: Pick<CheckedRequest<CallerChat>, 'request'> }

/** What tools that a candidate's provider runs for a request can come to; undefined where it runs none. */
export function hostedUsesOf(
  turn: Undecided & Pick<Turn<unknown>, 'body'>,
): HostedUses | undefined {
  const original = turn.checked.translation?.original
  const uses = original?.hosted?.({ search: turn.model.pricing?.search })
  if (!original || !uses) return undefined
  const { adapter } = wayOf(turn, turn.body)
  return adapter?.own?.format === original.format ? uses : undefined
}

/** Whether a candidate's provider is sent the service tier that a request asks for. */
export function sendsServiceTier(turn: Undecided & Pick<Turn<unknown>, 'body'>): boolean {
  const { adapter, operation } = wayOf(turn, turn.body)
  if (adapter) return operation === 'responses'
  return !turn.candidate.provider.options.drop.includes('service_tier')
}

/** The addresses of images that must be fetched for a candidate, which does not fetch them itself. */
export function addressesFor(turn: Shown): string[] {
  const { adapter } = wayOf(turn, turn.body)
  const { translation, request } = turn.checked
  const isPassedOn =
    adapter?.own !== undefined && adapter.own.format === translation?.original?.format
  if (!adapter?.addresses || isPassedOn || translation?.refusal) return []
  return adapter.addresses(request)
}

/**
 * A chat request as one candidate takes it: relayed, or written by the adapter of its dialect. `chat` is
 * the turn's body; for a legacy completion what stands in for it.
 */
export function prepareChat<Request>(
  turn: Turn<Request>,
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
  const omitted = toldOmissions(turn, omittedByRelay(named, target))
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
  turn: Turn<Request>
  way: ChatWay
  form: ChatForm<Request>
}

/** For a caller who speaks the provider's own format. `body` is the chat that it stood for. */
function passedOn<Request>(
  { turn, way, form }: Going<Request>,
  { own, original, body }: { own: OwnFormat; original: Original; body: JsonObject },
): Prepared {
  const { candidate, model } = turn
  const { operation, url, deployment } = way
  const omitted: string[] = []
  const allowed = allowedBody(original, turn, (field) => omitted.push(field))
  const promptCaching = promptCachingOf(turn)
  const write = (asked: JsonObject): Sent => {
    const request = own.request(asked, {
      upstreamModel: model.upstreamModel,
      maxTokens: outputLimitOf(body)?.limit,
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

/** What of a request a candidate's credential may be used for, and its price covers. */
function allowedBody(
  original: Original,
  { candidate, model }: Pick<Turn<unknown>, 'candidate' | 'model'>,
  omit: (field: string) => void,
): JsonObject {
  const { body, shared, own, paid } = original
  const { reasoning } = model.capabilities
  const fit = isShared(candidate) ? shared : own
  const safe = fit ? fit(body, { reasoning }) : body
  const { pricing } = model
  return pricing && isByPrice(candidate.billing) ? paid(safe, { pricing, omit }) : safe
}

/** Others than the caller use the credential, too. */
const isShared = ({ billing }: Turn<unknown>['candidate']) => billing.mode !== 'byok'

/** Written by an adapter; once more where a provider may refuse what another model has signed. */
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
  const write = (signatures: Target['signatures']): Sent & Pick<Prepared, 'omitted'> => {
    const request = adapter.request(plain, { ...target, ...(signatures && { signatures }) })
    if (deployment !== undefined) request.body['model'] = deployment
    return { ...request, url, adapter }
  }
  const unsigned = adapter.refusesSignatures && (() => write('replaced'))
  const source = new TurnSource(turn, form.textField)
  const { omitted, ...sent } = write(undefined)
  return { source, operation, ...sent, unsigned, omitted: toldOmissions(turn, omitted) }
}

/** What the caller is told of fields that `provider` is not sent, and of those that the price does not cover. */
function toldOmissions<Request>(
  { checked, body, model }: Turn<Request>,
  provider: readonly string[] = [],
): readonly string[] {
  const { translation, body: asked } = checked
  const stripped = strippedFrom(asked, body)
  if (!translation) return [...stripped, ...provider]
  const { omitted = [], callersField = (param: string) => param } = translation
  const unfit = fittingChat(asked, model) === asked ? [] : omittedOf(asked, ['reasoning_effort'])
  return [...omitted, ...[...stripped, ...unfit, ...provider].map(callersField)]
}

/** A level of thinking is a wish: a model that does not think would refuse the word. */
function fittingChat(chat: JsonObject, { capabilities }: Model): JsonObject {
  if (capabilities.reasoning || chat['reasoning_effort'] === undefined) return chat
  const { reasoning_effort: _effort, ...rest } = chat
  return rest
}

/** What came as a request for a Response goes on as one, where that is taken. */
function wayOf({ model, candidate, checked }: Undecided, body: JsonObject): ChatWay {
  const { upstreamModel } = model
  const original = checked.translation?.original
  const way =
    original?.format === 'responses'
      ? responsesWayOf(candidate, upstreamModel, { keepsId: !isShared(candidate) })
      : undefined
  return way ?? chatWayOf(candidate, upstreamModel, body)
}

function targetOf<Request>(
  turn: Turn<Request>,
  chat: JsonObject,
  { outputLimit, media }: ChatForm<Request>,
): Target {
  const { capabilities, upstreamModel } = turn.model
  return {
    upstreamModel,
    ...(media && { media }),
    maxTokens: outputLimitOf(chat)?.limit ?? outputLimit(turn),
    capabilities: {
      reasoning: capabilities.reasoning,
      tools: capabilities.tools,
      vision: capabilities.vision,
      jsonSchema: capabilities.json_schema,
    },
  }
}

/** What reads the stream of a candidate that was asked in its own format, by an adapter, or in ours. */
export function chatStreamOf(
  { own, adapter, customTools }: Pick<Prepared, 'own' | 'adapter' | 'customTools'>,
  request: RelayRequest,
): RelayedStream {
  if (own) return own.stream(request)
  const stream = adapter
    ? new TranslatedStream(adapter.reader(request.source), request)
    : new ChatStream(request)
  return customTools ? new CustomCallStream(stream, customTools) : stream
}
