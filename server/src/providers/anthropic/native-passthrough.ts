import { withAutomaticBreakpoints } from './breakpoints'
import { createPartsReader } from './parts'
import { countsAtEnd, countsAtStart, lacksCount, withMissingCounts } from './missing-counts'
import { hasCount, toUsage } from './usage'
import { collectMessage, toMessageEvents } from './whole-message'
import { withoutThoughts } from './without-thoughts'
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
import { isPacked } from '../../wire/reasoning-details'
import { isEventName, namedFrame } from '../../wire/sse'
import { TextSize } from '../../wire/text-size'
import { completionTokens, type Usage } from '../../wire/usage'
import { withEstimated } from '../../wire/usage-claims'

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
      messages: Array.isArray(messages) ? messages.flatMap(withoutForeign) : messages,
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

/** Thoughts of other models: without a signature, or with what Tollgate packed for their provider. */
function isForeignThought(block: unknown): boolean {
  if (!isObject(block)) return false
  const { type, signature, data } = block
  return type === 'thinking' ? !signature || isPacked(signature) : isPacked(data)
}

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

/** Anthropic refuses thoughts that it did not sign, and turns without content. */
function withoutForeign(turn: unknown): unknown[] {
  if (!isObject(turn) || turn['role'] !== 'assistant' || !Array.isArray(turn['content']))
    return [turn]
  const { content } = turn
  if (!content.some((block) => isForeignThought(block) || citesForeign(block))) return [turn]
  const own = content.filter((block) => !isForeignThought(block))
  return own.length > 0 ? [{ ...turn, content: own.map(withoutForeignCitations) }] : []
}

const isEmptyText = (block: unknown) =>
  isObject(block) && block['type'] === 'text' && (block['text'] ?? '') === ''

/** Whether an event only opens a message, or a text in it. */
function carriesNothing({ type, message, content_block: block }: JsonObject): boolean {
  if (type === 'message_start') {
    const content = isObject(message) ? message['content'] : undefined
    return !Array.isArray(content) || content.length === 0
  }
  return type === 'ping' || (type === 'content_block_start' && isEmptyText(block))
}

/** Passes the events of one answer on; their usage is read like that of a translated one. */
class RelayedMessage implements RelayedStream {
  readonly #request: RelayRequest
  readonly #reading: TranslatedStream
  #hasStarted = false
  hasOutput = false
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
    if (!isEventName(type) || (type === 'ping' && !this.#hasStarted)) return []
    this.hasOutput ||= !carriesNothing(event)
    if (type === 'content_block_start') this.#open = event['index']
    if (type === 'content_block_stop') this.#open = undefined
    if (type === 'message_start' && isObject(message)) {
      // Some repeat it; clients take it for another message.
      if (this.#hasStarted) return []
      this.#hasStarted = true
      message['model'] = this.#request.identity.model
      this.#addCounts(message, countsAtStart)
      this.#hideCache(message)
    }
    if (type === 'message_delta') this.#addCounts(event, countsAtEnd)
    this.#hideCache(event)
    return [namedFrame({ ...event, type })]
  }

  /** The clients of a provider that does not count get what is charged: at the start that of the prompt. */
  #addCounts(holder: JsonObject, names: typeof countsAtStart): void {
    const { usage } = holder
    if (lacksCount(usage, names)) holder['usage'] = withMissingCounts(usage, names, this.usage())
  }

  #hideCache(holder: JsonObject): void {
    const { usage } = holder
    if (this.#request.hidesCachedTokens && isObject(usage)) {
      holder['usage'] = withoutMessageCache(usage)
    }
  }

  /** The stream carries its usage itself. Its last event may be missing. */
  end(): string[] {
    this.#reading.end()
    return this.isOver ? [] : [...this.#close(), namedFrame({ type: 'message_stop' })]
  }

  isComplete(): boolean {
    return this.#reading.isComplete()
  }

  get isFinished(): boolean {
    return this.#reading.isFinished
  }

  cut(maxTokens: number): string[] {
    this.#reading.cut(maxTokens)
    const delta = { stop_reason: 'max_tokens', stop_sequence: null }
    const usage = { output_tokens: completionTokens(this.usage()) }
    return [
      ...this.#close(),
      namedFrame({ type: 'message_delta', delta, usage }),
      namedFrame({ type: 'message_stop' }),
    ]
  }

  /** The end of the block that is open, if one is. */
  #close(): string[] {
    if (this.#open === undefined) return []
    return [namedFrame({ type: 'content_block_stop', index: this.#open })]
  }

  tokensAtLeast(): number {
    return this.#reading.tokensAtLeast()
  }

  usage(): Usage {
    return this.#reading.usage()
  }

  hasContent(): boolean {
    return this.#reading.hasContent()
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
  const used = usedIn(usage, content, relayRequest)
  const isComplete = isObject(usage) && !lacksCount(usage, countsAtStart)
  const shownUsage = isComplete ? usage : withMissingCounts(usage, countsAtStart, used)
  const hidden = relayRequest.hidesCachedTokens === true
  return {
    body: {
      ...answer,
      model: identity.model,
      usage: hidden ? withoutMessageCache(shownUsage) : shownUsage,
    },
    usage: withUnits(used, relayRequest, { size: () => sizeOf(content, relayRequest.units) }),
  }
}

/** Reads a usage, and estimates what it does not count. */
function usedIn(usage: unknown, content: readonly unknown[], relayRequest: RelayRequest): Usage {
  const counted = isObject(usage) ? toUsage(usage) : undefined
  const estimate = () => relayRequest.estimate(sizeOf(content))
  if (!counted || !isObject(usage)) return estimate()
  const missingCounts = {
    prompt: !hasCount(usage, 'input_tokens'),
    output: !hasCount(usage, 'output_tokens'),
  }
  const used = boundUsage(counted, content, relayRequest)
  return missingCounts.prompt || missingCounts.output
    ? withEstimated(used, missingCounts, estimate())
    : used
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
    const contents = [text, thinking, input === undefined ? undefined : JSON.stringify(input)]
    for (const piece of contents) if (typeof piece === 'string') size.add(piece)
    // Sources, and the results of the provider's own tools.
    if (type !== 'text' || rest['citations']) size.addOther(rest)
  }
  return size
}

/** The passthrough for callers who use the Messages format. Source: contract 5.1. */
export const messagesPassthrough: NativePassthrough = {
  format: 'messages',
  request,
  unsigned: withoutThoughts,
  stream: (facts) => new RelayedMessage(facts),
  complete,
  events: toMessageEvents,
  collect: collectMessage,
}
