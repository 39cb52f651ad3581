import { toCallItem, type CallItem } from './call-items'
import { idPrefix } from './calls'
import type { OutputItem, OutputPosition, ItemStatus, StreamEvent } from './event'
import { ImageItem } from './image-item'
import { MessageItem } from './message-item'
import { ReasoningItem } from './reasoning-item'
import type { CallerTool } from './tool-kinds'
import { readDrawnImages } from '../../wire/drawn-images'
import { type JsonObject, toObjects } from '../../wire/json-body'
import type { Part } from '../../wire/answer-part'
import { hasContent } from '../../wire/reasoning-details'

/** The facts about its request that an output needs. */
export interface OutputOptions {
  /** Makes the ids of items, with their place. */
  bareId: string
  /** The caller's tools by the names of the functions that stand for them. */
  tools: ReadonlyMap<string, CallerTool>
  /** The client wants the data of thoughts that providers need back. */
  includesThoughts: boolean
}

interface Entry {
  place: OutputPosition
  item: OutputItem
  status: ItemStatus
}

/** A part that can come in any order, each in an item of its own. */
type MessagePart = Extract<
  Part,
  { type: 'text' | 'refusal' | 'reasoning' | 'extra' | 'annotation' }
>

/**
 * The output of one answer, item by item. Calls may come interleaved, so they stay open to the end of the
 * answer; other content that arrives meanwhile waits for them, as clients know one open message at a time.
 */
export class Output {
  readonly #options: OutputOptions
  readonly #entries: Entry[] = []
  readonly #calls = new Map<number, { entry: Entry; item: CallItem }>()
  readonly #waiting: MessagePart[] = []
  /** The message or the thoughts that are being streamed. */
  #open: { entry: Entry; item: MessageItem | ReasoningItem } | undefined

  constructor(options: OutputOptions) {
    this.#options = options
  }

  add(part: Part): StreamEvent[] {
    switch (part.type) {
      case 'text':
      case 'refusal':
      case 'reasoning':
      case 'annotation':
      case 'extra':
        if (part.type === 'extra' && !this.#hasItems(part.fields)) return []
        if (this.#calls.size === 0) return this.#write(part)
        this.#waiting.push(part)
        return []
      case 'call':
        return this.#call(part)
      case 'arguments':
        return this.#calls.get(part.index)?.item.addArguments(part.text) ?? []
      default:
        return []
    }
  }

  /** Ends all items, the last one with `status`. An answer has one item at least. */
  finish(status: ItemStatus): StreamEvent[] {
    const events: StreamEvent[] = []
    if (this.#waiting.length > 0) events.push(...this.#closeCalls(status))
    for (const part of this.#waiting) events.push(...this.#write(part))
    if (this.#entries.length === 0) events.push(...this.#write({ type: 'text', text: '' }))
    events.push(...this.#closeOpen(status), ...this.#closeCalls(status))
    return events
  }

  /** The items; those still open have broken off. */
  items(): JsonObject[] {
    return this.#entries.map(({ item, status }) =>
      item.toItem(status === 'in_progress' ? 'incomplete' : status),
    )
  }

  #write(part: MessagePart): StreamEvent[] {
    if (part.type === 'extra') return [...this.#draw(part.fields), ...this.#sign(part.fields)]
    if (part.type === 'annotation') return this.#annotate(part.annotation)
    const isThought = part.type === 'reasoning'
    const { events, item } = isThought ? this.#thoughts() : this.#message()
    const deltas =
      item instanceof ReasoningItem
        ? item.addText(part.text)
        : item.writeDelta(part.type === 'refusal' ? 'refusal' : 'text', part.text)
    return [...events, ...deltas]
  }

  /** An annotation that cites no earlier text has no place, and is left out. */
  #annotate(annotation: JsonObject): StreamEvent[] {
    const open = this.#open?.item
    return open instanceof MessageItem ? open.annotate(annotation) : []
  }

  #hasItems(fields: JsonObject): boolean {
    return this.#readDetails(fields).length > 0 || readDrawnImages(fields).length > 0
  }

  #sign(fields: JsonObject): StreamEvent[] {
    const details = this.#readDetails(fields)
    if (details.length === 0) return []
    const { events, item } = this.#thoughts()
    item.sign(details)
    return events
  }

  /** Each image is an item, which is whole at once. */
  #draw(fields: JsonObject): StreamEvent[] {
    return readDrawnImages(fields).flatMap((image) => {
      const closing = this.#closeOpen('completed')
      const place = this.#positionOf('ig')
      const { entry, events } = this.#begin(place, new ImageItem(place, image))
      return [...closing, ...events, ...close(entry, 'completed')]
    })
  }

  #readDetails({ reasoning_details: details }: JsonObject): JsonObject[] {
    return this.#options.includesThoughts ? toObjects(details).filter(hasContent) : []
  }

  #message() {
    const open = this.#open?.item
    if (open instanceof MessageItem) return { item: open, events: [] }
    const closing = this.#closeOpen('completed')
    const place = this.#positionOf('msg')
    const item = new MessageItem(place)
    const { entry, events } = this.#begin(place, item)
    this.#open = { entry, item }
    return { item, events: [...closing, ...events] }
  }

  #thoughts() {
    const open = this.#open?.item
    if (open instanceof ReasoningItem) return { item: open, events: [] }
    const closing = this.#closeOpen('completed')
    const place = this.#positionOf('rs')
    const item = new ReasoningItem(place, this.#options)
    const { entry, events } = this.#begin(place, item)
    this.#open = { entry, item }
    return { item, events: [...closing, ...events] }
  }

  #call({ index, id = '', name }: Extract<Part, { type: 'call' }>): StreamEvent[] {
    if (this.#calls.has(index)) return []
    const closing = this.#closeOpen('completed')
    const tool = this.#options.tools.get(name) ?? { kind: 'function', name }
    const place = this.#positionOf(idPrefix[tool.kind])
    const item = toCallItem(place, { callId: id, tool })
    const { entry, events } = this.#begin(place, item)
    this.#calls.set(index, { entry, item })
    return [...closing, ...events]
  }

  #positionOf(prefix: string): OutputPosition {
    const index = this.#entries.length
    return { id: `${prefix}_${this.#options.bareId}${String(index).padStart(3, '0')}`, index }
  }

  #begin(place: OutputPosition, item: OutputItem): { entry: Entry; events: StreamEvent[] } {
    const entry = { place, item, status: 'in_progress' as const }
    this.#entries.push(entry)
    const event = { output_index: place.index, item: item.toItem('in_progress') }
    return { entry, events: [{ type: 'response.output_item.added', ...event }] }
  }

  #closeOpen(status: ItemStatus): StreamEvent[] {
    const open = this.#open
    this.#open = undefined
    return open ? close(open.entry, status) : []
  }

  /** Of an answer that was cut, whole calls are complete. */
  #closeCalls(status: ItemStatus): StreamEvent[] {
    const calls = [...this.#calls.values()]
    this.#calls.clear()
    return calls.flatMap(({ entry, item }) => {
      const isComplete = status === 'completed' || item.isWhole()
      return close(entry, isComplete ? 'completed' : status)
    })
  }
}

function close(entry: Entry, status: ItemStatus): StreamEvent[] {
  const { item, place } = entry
  entry.status = status
  const doneFields = { output_index: place.index, item: item.toItem(status) }
  return [...item.end(), { type: 'response.output_item.done', ...doneFields }]
}
