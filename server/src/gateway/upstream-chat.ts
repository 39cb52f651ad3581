import type { Turn } from './job'
import { sourceOf, type Prepared } from './relay'
import type { Target } from '../providers/adapter'
import { chatWayOf, responsesWayOf } from '../providers/chat-way'
import type { Model } from '../catalog/model'
import { ChatStream } from '../providers/openai/chat-stream'
import type { RelayedStream, RelayRequest } from '../providers/openai/relayed-stream'
import { outputLimitOf, toUpstreamChat } from '../providers/openai/request'
import { TranslatedStream } from '../providers/translated-stream'
import type { Source } from '../providers/upstream-error'
import type { Sent } from '../routing/attempt'
import { isByPrice } from '../routing/candidate'
import type { ChatRequest } from '../wire/chat-request'
import type { JsonObject } from '../wire/json-body'
import { toPlainChat } from '../wire/plain-chat'

interface AskedChat {
  /** The chat request; for a legacy completion the one that stands in for it. */
  body: JsonObject
  textField: Source['textField']
  /** The output limit that the hold pays for where the body names none. */
  outputLimit: () => number
  /** What was fetched for it. */
  media?: Target['media'] | undefined
}

/** What decides on the way of a request to a candidate. */
type Going = Pick<Turn<unknown>, 'model' | 'candidate' | 'translation'>
type Shown = Going & Pick<Turn<ChatRequest>, 'body' | 'request'>

/** The addresses of images that must be fetched for a candidate, which does not fetch them itself. */
export function addressesFor(turn: Shown): string[] {
  const { adapter } = wayOf(turn, turn.body)
  const { original, refusal } = turn.translation ?? {}
  const isPassedOn = adapter?.own !== undefined && adapter.own.format === original?.format
  if (!adapter?.addresses || isPassedOn || refusal) return []
  return adapter.addresses(turn.request)
}

/** A chat request as one candidate takes it: relayed, or written by the adapter of its dialect. */
export function prepareChat(turn: Turn<unknown>, asked: AskedChat): Prepared {
  const { textField } = asked
  const { candidate, model, translation } = turn
  const body = translation ? fittingChat(asked.body, model) : asked.body
  const source = sourceOf(turn, textField)
  const { upstreamModel } = model
  const { original, refusal } = translation ?? {}
  const { adapter, operation, url, deployment } = wayOf(turn, body)
  const own = adapter?.own
  if (own && own.format === original?.format) {
    const isPriced = model.pricing && isByPrice(candidate.billing)
    const passedOn = isPriced ? original.paid() : original.body
    const maxTokens = outputLimitOf(body)?.limit
    const request = own.request(passedOn, { upstreamModel, maxTokens })
    if (deployment !== undefined) request.body['model'] = deployment
    const sent = { model, body: original.body, candidate }
    return {
      source: sourceOf(sent, textField),
      operation,
      url,
      ...request,
      own,
      forwarded: original.headers,
    }
  }
  if (refusal) throw refusal
  if (!adapter) {
    const { options } = candidate.provider
    const relayed = toUpstreamChat(body, { upstreamModel, options })
    if (deployment !== undefined) relayed['model'] = deployment
    return { source, operation, url, body: relayed }
  }
  const plain = toPlainChat(body)
  const target = targetOf(turn, asked)
  const write = (signatures: Target['signatures']): Sent => {
    const request = adapter.request(plain, { ...target, ...(signatures && { signatures }) })
    if (deployment !== undefined) request.body['model'] = deployment
    return { ...request, url, adapter }
  }
  const unsigned = adapter.refusesSignatures && (() => write('replaced'))
  return { source, operation, ...write(undefined), unsigned }
}

/** A level of thinking is a wish: a model that does not think would refuse the word. */
function fittingChat(chat: JsonObject, { capabilities }: Model): JsonObject {
  if (capabilities.reasoning || chat['reasoning_effort'] === undefined) return chat
  const { reasoning_effort: _effort, ...rest } = chat
  return rest
}

/** What came as a request for a Response goes on as one, where that is taken. */
function wayOf({ model, candidate, translation }: Going, body: JsonObject) {
  const { upstreamModel } = model
  const original = translation?.original
  const way =
    original?.format === 'responses'
      ? responsesWayOf(candidate, upstreamModel, original.body)
      : undefined
  return way ?? chatWayOf(candidate, upstreamModel, body)
}

const targetOf = (
  { model: { capabilities, upstreamModel } }: Turn<unknown>,
  { body, outputLimit, media }: AskedChat,
): Target => ({
  upstreamModel,
  ...(media && { media }),
  maxTokens: outputLimitOf(body)?.limit ?? outputLimit(),
  capabilities: {
    reasoning: capabilities.reasoning,
    tools: capabilities.tools,
    vision: capabilities.vision,
    jsonSchema: capabilities.json_schema,
  },
})

/** What reads the stream of a candidate that was asked in its own format, by an adapter, or in ours. */
export function chatStreamOf(
  { own, adapter }: Pick<Prepared, 'own' | 'adapter'>,
  request: RelayRequest,
): RelayedStream {
  if (own) return own.stream(request)
  return adapter
    ? new TranslatedStream(adapter.reader(request.source), request)
    : new ChatStream(request)
}
