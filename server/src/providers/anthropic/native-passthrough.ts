import { withAutomaticBreakpoints } from './breakpoints'
import { createPartsReader } from './parts'
import { toUsage } from './usage'
import type { NativePassthrough, PassthroughTarget } from '../adapter'
import { isFailure } from '../event'
import {
  withinVisible,
  withUnits,
  type RelayedStream,
  type RelayRequest,
} from '../openai/relayed-stream'
import type { CompleteAnswer } from '../openai/whole-answer'
import { TranslatedStream } from '../translated-stream'
import { toFailure, invalidAnswer } from '../upstream-error'
import type { AnswerUnits } from '../../wire/answer-units'
import { withoutMessageCache } from '../../wire/hidden-cache'
import { isObject, type JsonObject } from '../../wire/json-body'
import { namedFrame } from '../../wire/sse'
import { TextSize } from '../../wire/text-size'
import { completionTokens, type Usage } from '../../wire/usage'

const path = '/v1/messages'

/** Of a request that names no version. */
const defaultHeaders = { 'anthropic-version': '2023-06-01' }

/** The least that a budget of thinking may be. */
const minBudget = 1024

/**
 * Passes a request in this format on as it is, but for model, limit, and thoughts of other vendors'
 * models.
 */
function request(
  original: JsonObject,
  { upstreamModel, maxTokens, promptCaching }: PassthroughTarget,
) {
  const body = promptCaching ? withAutomaticBreakpoints(original, promptCaching) : original
  const { messages } = body
  return {
    path,
    headers: defaultHeaders,
    body: {
      ...body,
      model: upstreamModel,
      messages: Array.isArray(messages) ? messages.map(withoutForeign) : messages,
      ...(maxTokens !== undefined && limitThinking(body, maxTokens)),
    },
  }
}

/** A lowered limit may leave no room for the requested thinking. */
function limitThinking({ thinking }: JsonObject, maxTokens: number): JsonObject {
  const budget = isObject(thinking) ? Number(thinking['budget_tokens'] ?? 0) : 0
  if (!isObject(thinking) || budget < maxTokens) return { max_tokens: maxTokens }
  if (maxTokens <= minBudget) return { max_tokens: maxTokens, thinking: { type: 'disabled' } }
  const less = Math.max(minBudget, Math.floor(maxTokens / 2))
  return { max_tokens: maxTokens, thinking: { ...thinking, budget_tokens: less } }
}

const isUnsigned = (block: unknown) =>
  isObject(block) && block['type'] === 'thinking' && !block['signature']

/** A page that another model cited has no index in Anthropic's search, and without one it is refused. */
const isForeignCitation = (citation: unknown) =>
  isObject(citation) &&
  citation['type'] === 'web_search_result_location' &&
  !citation['encrypted_index']

const citesForeign = (block: unknown): block is JsonObject & { citations: unknown[] } =>
  isObject(block) && Array.isArray(block['citations']) && block['citations'].some(isForeignCitation)

function withoutForeignCitations(block: unknown): unknown {
  if (!citesForeign(block)) return block
  const { citations, ...rest } = block
  const own = citations.filter((citation) => !isForeignCitation(citation))
  return own.length > 0 ? { ...rest, citations: own } : rest
}

/** Thoughts of another model have no signature, and Anthropic refuses them without one. */
function withoutForeign(turn: unknown): unknown {
  if (!isObject(turn) || turn['role'] !== 'assistant' || !Array.isArray(turn['content']))
    return turn
  const { content } = turn
  if (!content.some((block) => isUnsigned(block) || citesForeign(block))) return turn
  const own = content.filter((block) => !isUnsigned(block))
  return { ...turn, content: own.map(withoutForeignCitations) }
}

/** Passes the events of one answer on; their usage is read like that of a translated one. */
class RelayedMessage implements RelayedStream {
  readonly #request: RelayRequest
  readonly #reading: TranslatedStream
  #hasStarted = false
  /** The block that is open, if one is. */
  #open: unknown

  constructor(relayRequest: RelayRequest) {
    this.#request = relayRequest
    this.#reading = new TranslatedStream(createPartsReader(relayRequest.source), relayRequest)
  }

  get isOver(): boolean {
    return this.#reading.isOver
  }

  next(data: string): string[] {
    this.#reading.next(data)
    const event: unknown = JSON.parse(data)
    if (!isObject(event)) return []
    const { type, message } = event
    // Until it has started, a refusal may still come in place of it.
    if (typeof type !== 'string' || (type === 'ping' && !this.#hasStarted)) return []
    if (type === 'content_block_start') this.#open = event['index']
    if (type === 'content_block_stop') this.#open = undefined
    if (type === 'message_start' && isObject(message)) {
      // Some repeat it; clients take it for another message.
      if (this.#hasStarted) return []
      this.#hasStarted = true
      message['model'] = this.#request.identity.model
      this.#hideCache(message)
    }
    this.#hideCache(event)
    return [namedFrame({ ...event, type })]
  }

  #hideCache(holder: JsonObject): void {
    const { usage } = holder
    if (this.#request.hidesCachedTokens && isObject(usage)) {
      holder['usage'] = withoutMessageCache(usage)
    }
  }

  end(): string[] {
    // The stream carries its usage itself.
    this.#reading.end()
    return []
  }

  cut(maxTokens: number): string[] {
    this.#reading.cut(maxTokens)
    const delta = { stop_reason: 'max_tokens', stop_sequence: null }
    const usage = { output_tokens: completionTokens(this.usage()) }
    const close = { type: 'content_block_stop', index: this.#open }
    return [
      ...(this.#open === undefined ? [] : [namedFrame(close)]),
      namedFrame({ type: 'message_delta', delta, usage }),
      namedFrame({ type: 'message_stop' }),
    ]
  }

  tokensAtLeast(): number {
    return this.#reading.tokensAtLeast()
  }

  usage(): Usage {
    return this.#reading.usage()
  }
}

/** Reads a whole message. Throws for an error inside a 200, and for an answer that is no message. */
function complete(answer: unknown, relayRequest: RelayRequest): CompleteAnswer {
  const { source, identity } = relayRequest
  if (!isObject(answer))
    throw invalidAnswer(source.provider, 'a response that is not a JSON object')
  if (isFailure(answer)) throw toFailure(answer, source)
  const { content, usage } = answer
  if (!Array.isArray(content)) throw invalidAnswer(source.provider, 'a message without content')
  const counted = isObject(usage) ? toUsage(usage) : undefined
  const used = counted
    ? boundUsage(counted, content, relayRequest)
    : relayRequest.estimate(sizeOf(content))
  const hidden = relayRequest.hidesCachedTokens === true && isObject(usage)
  return {
    body: {
      ...answer,
      model: identity.model,
      ...(hidden && { usage: withoutMessageCache(usage) }),
    },
    usage: withUnits(used, relayRequest, { size: () => sizeOf(content, relayRequest.units) }),
  }
}

/**
 * Most answers need no closer look: their count is at most the characters of their texts, which never
 * exceed the bytes.
 */
function boundUsage(
  counted: Usage,
  content: readonly unknown[],
  relayRequest: RelayRequest,
): Usage {
  let length = 0
  for (const block of content) {
    if (isObject(block) && typeof block['text'] === 'string') length += block['text'].length
  }
  return completionTokens(counted) <= length
    ? counted
    : withinVisible(counted, sizeOf(content), relayRequest)
}

function sizeOf(content: readonly unknown[], units?: AnswerUnits): TextSize {
  const size = new TextSize(units)
  for (const block of content.filter(isObject)) {
    const { type, text, thinking, name, input, ...rest } = block
    if (typeof name === 'string') size.addCall(name)
    const said = [text, thinking, input === undefined ? undefined : JSON.stringify(input)]
    for (const piece of said) if (typeof piece === 'string') size.add(piece)
    // Sources, and the results of the provider's own tools.
    if (type !== 'text' || rest['citations']) size.addOther(rest)
  }
  return size
}

/** The passthrough for callers who use the Messages format. Source: contract 5.1. */
export const messagesPassthrough: NativePassthrough = {
  format: 'messages',
  request,
  stream: (facts) => new RelayedMessage(facts),
  complete,
}
