import { CitedText } from './cited-text'
import {
  readOutput,
  readResponsesEvent,
  type AnnotationEvent,
  type CompleteResponse,
  type ItemEvent,
  type LastEvent,
  type ResponsesEvent,
  type ResponsesOutputItem,
  type SummaryEvent,
} from './events'
import { SentItem, SentItems, type ItemPlace } from './sent-items'
import {
  isDelta,
  numberOf,
  subjectOf,
  type DeltaEvent,
  type DoneEvent,
  type StreamedField,
} from './text-events'
import { encryptedThought } from './thoughts'
import { toChatCounts, toUsage } from './usage'
import type { PartsReader } from '../adapter'
import { toFailure, type ErrorSource } from '../upstream-error'
import { toCustomArguments } from '../../wire/custom-tools'
import type { FinishReason } from '../../wire/finish-reason'
import { type JsonObject, toObjects, toText } from '../../wire/json-body'
import type { Part } from '../../wire/answer-part'
import { findMissing } from '../../wire/usage-claims'

const paragraph = '\n\n'

/** Reads one Response. @see https://platform.openai.com/docs/api-reference/responses-streaming */
export function createPartsReader(source: ErrorSource): PartsReader {
  const response = new ResponseParts(source)
  return (data) => {
    const event = readResponsesEvent(data, source)
    return event ? response.next(event) : []
  }
}

/**
 * The parts of one Response. What its deltas carry comes again when a part, an item and the Response are done: of each
 * the client gets what it does not have.
 */
class ResponseParts {
  readonly #source: ErrorSource
  readonly #items = new SentItems()
  #calls = 0
  #thoughts = 0
  readonly #cited = new CitedText()

  constructor(source: ErrorSource) {
    this.#source = source
  }

  next(event: ResponsesEvent): Part[] {
    switch (event.type) {
      case 'response.output_item.added':
        return this.#addItem(event)
      case 'response.output_item.done':
        return this.#endItem(event)
      case 'response.output_text.annotation.added':
        return this.#annotate(event)
      case 'response.reasoning_summary_part.added':
        return this.#beginSummary(event)
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        return this.#finish(event)
      default:
        return isDelta(event) ? this.#addDelta(event) : this.#endText(event)
    }
  }

  #begin(type: string, place: ItemPlace, { id, call_id, name }: Partial<ResponsesOutputItem>) {
    const item = new SentItem(type, { ...place, item_id: id ?? place.item_id })
    item.callId = call_id ?? undefined
    this.#items.add(item)
    const parts: Part[] = []
    // A second message, such as the answer after a commentary, is another paragraph.
    if (type === 'message') {
      if (this.#cited.length > 0) parts.push(...this.#cited.add(paragraph))
      this.#cited.begin()
    } else if (type === 'reasoning') {
      // Thoughts began, though none of them may ever be shown.
      parts.push({ type: 'reasoning', text: '' })
    } else {
      item.callIndex = this.#calls
      item.name = name ?? ''
      this.#calls += 1
      parts.push(callPart(item))
    }
    return { item, parts }
  }

  #addItem({ item, ...place }: ItemEvent): Part[] {
    const existingItem = this.#items.findItem(item, place)
    // Some servers begin an item with its first delta.
    if (existingItem && !existingItem.isDone && !isSecond(existingItem, item, place)) {
      return this.#name(existingItem, item)
    }
    const begun = this.#begin(item.type, place, item)
    begun.item.opening = item
    return begun.parts
  }

  /** Adds the name and the id of a call that began without. */
  #name(sentItem: SentItem, { call_id: callId, name }: CallNames): Part[] {
    if (sentItem.type === 'message' || sentItem.type === 'reasoning') return []
    if (!sentItem.callId && callId) this.#items.setCallId(sentItem, callId)
    if (!name || sentItem.name !== '') return []
    sentItem.name = name
    return [callPart(sentItem)]
  }

  #endItem({ item, ...place }: ItemEvent): Part[] {
    const existingItem = this.#items.findItem(item, place)
    if (existingItem) return this.#fill(existingItem, item)
    const begun = this.#begin(item.type, place, item)
    return [...begun.parts, ...this.#fill(begun.item, item)]
  }

  /** The parts of a whole item that the client does not have yet. */
  #fill(sentItem: SentItem, item: ResponsesOutputItem): Part[] {
    const isFirst = !sentItem.isDone
    sentItem.isDone = true
    if (item.type === 'message') return this.#fillMessage(sentItem, toObjects(item.content))
    if (item.type === 'reasoning') {
      const thoughts = this.#fillThoughts(sentItem, item)
      if (!isFirst || !item.encrypted_content) return thoughts
      const { id, encrypted_content: data } = item
      const detail = encryptedThought({ id: id ?? undefined, data }, this.#thoughts)
      this.#thoughts += 1
      return [...thoughts, { type: 'extra', fields: { reasoning_details: [detail] } }]
    }
    const text = wholeArguments(item)
    return [...this.#name(sentItem, item), ...this.#addRest(sentItem, 'arguments', text)]
  }

  #fillMessage(sentItem: SentItem, content: readonly JsonObject[]): Part[] {
    const parts = [
      ...this.#addRest(sentItem, 'text', content.map(({ text }) => toText(text)).join('')),
      ...this.#addRest(sentItem, 'refusal', content.map(({ refusal }) => toText(refusal)).join('')),
    ]
    const annotations = content.flatMap(({ annotations: own }) => toObjects(own))
    const missingAnnotations = annotations.slice(sentItem.annotations)
    sentItem.annotations += missingAnnotations.length
    return [...parts, ...missingAnnotations.flatMap((annotation) => this.#cited.parts(annotation))]
  }

  #fillThoughts(sentItem: SentItem, { summary, content }: ResponsesOutputItem): Part[] {
    return [
      ...this.#addRest(sentItem, 'summary', textsIn(summary).join(paragraph)),
      ...this.#addRest(sentItem, 'reasoning', textsIn(content).join('')),
    ]
  }

  #addRest(sentItem: SentItem, field: StreamedField, whole: string): Part[] {
    return this.#send(sentItem, field, sentItem.field(field).rest(whole))
  }

  /** Sends a piece of a field. */
  #send(sentItem: SentItem, field: StreamedField, piece: string): Part[] {
    if (piece === '') return []
    sentItem.field(field).add(piece)
    switch (field) {
      case 'text':
        return this.#cited.add(piece)
      case 'refusal':
        return [{ type: 'refusal', text: piece }]
      case 'arguments':
        return [{ type: 'arguments', index: sentItem.callIndex, text: piece }]
      case 'summary':
      case 'reasoning':
      default:
        return [{ type: 'reasoning', text: piece }]
    }
  }

  /** The item of an event about a text, which may be its first. */
  #itemOf(event: DeltaEvent | DoneEvent) {
    const { type, field } = subjectOf(event)
    const item = this.#items.find(type, event)
    return item ? { item, field, parts: [] } : { field, ...this.#begin(type, event, {}) }
  }

  #addDelta(event: DeltaEvent): Part[] {
    const { item, field, parts } = this.#itemOf(event)
    const { delta } = event
    if (!delta) return parts
    item.part(field, numberOf(event)).add(delta)
    return [...parts, ...this.#send(item, field, delta)]
  }

  #endText(event: DoneEvent): Part[] {
    const { item, field, parts } = this.#itemOf(event)
    if (item.type === 'custom_tool_call') {
      const { input } = event
      return input ? [...parts, ...this.#addRest(item, field, toCustomArguments(input))] : parts
    }
    const whole = event.text ?? event.refusal ?? event.arguments ?? ''
    const part = item.part(field, numberOf(event))
    const rest = part.add(part.rest(whole))
    item.endPart(field)
    const gap = field === 'summary' && rest === whole ? this.#separate(item) : []
    const { name } = event
    return [...parts, ...this.#name(item, { name }), ...gap, ...this.#send(item, field, rest)]
  }

  #beginSummary(event: SummaryEvent): Part[] {
    const item = this.#items.find('reasoning', event)
    if (item) return this.#separate(item)
    return (event.summary_index ?? 0) > 0 ? [{ type: 'reasoning', text: paragraph }] : []
  }

  /** Begins another paragraph of a summary that has one. */
  #separate(item: SentItem): Part[] {
    const text = item.field('summary')
    return text.length === 0 || text.endsIn(paragraph) ? [] : this.#send(item, 'summary', paragraph)
  }

  #annotate(event: AnnotationEvent): Part[] {
    const item = this.#items.find('message', event)
    if (item) item.annotations += 1
    return this.#cited.parts(event.annotation)
  }

  /** An input of a custom tool that is empty at the end is the empty text. */
  #endCustomCalls(): Part[] {
    return this.#items
      .ofType('custom_tool_call')
      .filter((sentItem) => sentItem.field('arguments').length === 0)
      .flatMap((sentItem) => this.#send(sentItem, 'arguments', toCustomArguments('')))
  }

  #finish({ type, response }: LastEvent): Part[] {
    const { usage: block, error, service_tier: servedTier } = response
    const reason = finishOf(type, response)
    if (!reason) {
      throw toFailure({ error: error ?? { message: 'The response failed.' } }, this.#source)
    }
    const parts = this.#items.pair(readOutput(response)).flatMap(({ item, at, sentItem }) => {
      if (sentItem) return this.#fill(sentItem, item)
      const begun = this.#begin(item.type, { output_index: at }, item)
      return [...begun.parts, ...this.#fill(begun.item, item)]
    })
    parts.push(...this.#items.added.flatMap(({ sentItem, item }) => this.#fill(sentItem, item)))
    if (reason === 'stop') parts.push(...this.#endCustomCalls())
    const usage = toUsage(block)
    const missingSides = usage && findMissing(usage, toChatCounts(block))
    if (usage && typeof servedTier === 'string') usage.servedTier = servedTier
    return [
      ...parts,
      { type: 'finish', reason: reason === 'stop' && this.#calls > 0 ? 'tool_calls' : reason },
      ...(usage ? [{ type: 'usage' as const, usage, missing: missingSides }] : []),
      { type: 'end' },
    ]
  }
}

/** Whether an item with a name begins behind another one, with neither number nor id. */
const isSecond = ({ name }: SentItem, item: ResponsesOutputItem, place: ItemPlace): boolean =>
  name !== '' &&
  Boolean(item.name) &&
  typeof place.output_index !== 'number' &&
  !item.id &&
  !item.call_id

const textsIn = (list: unknown): string[] => toObjects(list).map(({ text }) => toText(text))

type CallNames = Partial<Pick<ResponsesOutputItem, 'call_id' | 'name'>>

const callPart = ({ callIndex, callId, name }: SentItem): Part => ({
  type: 'call',
  index: callIndex,
  name,
  ...(callId && { id: callId }),
})

/** Free text has to become JSON; one that broke off becomes JSON that breaks off. */
function wholeArguments({ type, arguments: text, input, status }: ResponsesOutputItem): string {
  if (type !== 'custom_tool_call') return text ?? ''
  if (!input) return ''
  const json = toCustomArguments(input)
  return status === 'incomplete' ? json.slice(0, -'"}'.length) : json
}

/** Returns the finish reason of a Response without regard to its calls; undefined for one that failed. */
function finishOf(
  type: string,
  { incomplete_details: details }: CompleteResponse,
): FinishReason | undefined {
  if (type === 'response.completed') return 'stop'
  if (type !== 'response.incomplete') return undefined
  return details?.reason === 'content_filter' ? 'content_filter' : 'length'
}
