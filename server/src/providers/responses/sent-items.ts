import { maxItems, type ResponsesOutputItem } from './events'
import type { StreamedField } from './text-events'

/** A text that goes to the client in pieces, of which no more is kept than shows what of it is missing. */
class SentText {
  length = 0
  #last = ''

  add(piece: string): string {
    this.length += piece.length
    if (piece !== '') this.#last = piece
    return piece
  }

  /** Returns what the whole text has behind the pieces; nothing where they are not its beginning. */
  rest(whole: string): string {
    const isBeginning = whole.length > this.length && whole.endsWith(this.#last, this.length)
    return isBeginning ? whole.slice(this.length) : ''
  }

  endsIn(piece: string): boolean {
    return this.#last === piece
  }
}

/** The position of an event among the items; numbers and ids may be missing. */
export interface ItemPlace {
  output_index?: number | null | undefined
  item_id?: string | null | undefined
}

/** An item of the output, as far as its events have arrived. */
export class SentItem {
  readonly type: string
  readonly position: number | undefined
  id: string | undefined
  callId: string | undefined
  name = ''
  /** The index of a call among the calls. */
  callIndex = 0
  annotations = 0
  isDone = false
  /** The item as it was added, which may have all of it. */
  opening: ResponsesOutputItem | undefined
  readonly #fields = new Map<StreamedField, SentText>()
  /** The parts of a field, by its name and their number. */
  readonly #parts = new Map<string, SentText>()
  /** The part of each field that is being sent. */
  readonly #current = new Map<StreamedField, { text: SentText; isNumbered: boolean }>()

  constructor(type: string, { output_index: position, item_id: id }: ItemPlace) {
    this.type = type
    this.position = position ?? undefined
    this.id = id ?? undefined
  }

  /** All that was sent of a field. */
  field(field: StreamedField): SentText {
    const existingField = this.#fields.get(field)
    if (existingField) return existingField
    const text = new SentText()
    this.#fields.set(field, text)
    return text
  }

  /** Text that was sent of one part of a field: by its number where both have one, else of the one that is being sent. */
  part(field: StreamedField, number: number | null | undefined): SentText {
    const isNumbered = typeof number === 'number'
    const key = `${field} ${number}`
    const current = this.#current.get(field)
    const open = current && !(isNumbered && current.isNumbered) ? current.text : undefined
    const text = (isNumbered ? this.#parts.get(key) : undefined) ?? open ?? new SentText()
    if (isNumbered) this.#parts.set(key, text)
    if (current?.text !== text) this.#current.set(field, { text, isNumbered })
    return text
  }

  endPart(field: StreamedField): void {
    this.#current.delete(field)
  }
}

/** An item of a whole output, its position, and what of it was sent. */
interface PairedItem {
  item: ResponsesOutputItem
  at: number
  sentItem: SentItem | undefined
}

/** The items of one Response. */
export class SentItems {
  readonly #items: SentItem[] = []
  readonly #last = new Map<string, SentItem>()
  /** By type and position, type and id, and the id of a call. */
  readonly #numbered = new Map<string, SentItem>()
  readonly #byId = new Map<string, SentItem>()
  readonly #byCallId = new Map<string, SentItem>()

  /** The item of an event: by its number, else by its id, else the last one of its type that is not done. */
  find(type: string, { output_index: position, item_id: id }: ItemPlace): SentItem | undefined {
    const isNumbered = typeof position === 'number'
    const numbered = isNumbered ? this.#numbered.get(`${type} ${position}`) : undefined
    const knownItem = numbered ?? (id ? this.#byId.get(`${type} ${id}`) : undefined)
    if (knownItem) return knownItem
    const last = this.#last.get(type)
    if (!last || last.isDone || (id && last.id)) return undefined
    return isNumbered && last.position !== undefined ? undefined : last
  }

  /** The item that an event about a whole item is of; undefined for one that begins. */
  findItem(item: ResponsesOutputItem, place: ItemPlace): SentItem | undefined {
    const { type, call_id: callId, id } = item
    const calledItem = callId ? this.#byCallId.get(callId) : undefined
    const foundItem = calledItem ?? this.find(type, { ...place, item_id: id ?? place.item_id })
    // Some servers give all items one number.
    return callId && foundItem?.callId && foundItem.callId !== callId ? undefined : foundItem
  }

  add(item: SentItem): void {
    const { type, position, id } = item
    this.#items.push(item)
    this.#last.set(type, item)
    if (position !== undefined) this.#numbered.set(`${type} ${position}`, item)
    if (id) this.#byId.set(`${type} ${id}`, item)
    this.setCallId(item, item.callId)
  }

  setCallId(item: SentItem, callId: string | undefined): void {
    item.callId = callId
    if (callId) this.#byCallId.set(callId, item)
  }

  /** The items that were added, and how. */
  get added(): { sentItem: SentItem; item: ResponsesOutputItem }[] {
    return this.#items.flatMap((sentItem) =>
      sentItem.opening ? [{ sentItem, item: sentItem.opening }] : [],
    )
  }

  ofType(type: string): readonly SentItem[] {
    return this.#items.filter((item) => item.type === type)
  }

  /** Pairs the items of a whole output with those that were sent: by ids and numbers, the rest in their order. */
  pair(output: readonly { item: ResponsesOutputItem; at: number }[]): PairedItem[] {
    const takenItems = new Set<SentItem>()
    const knownItems = output.map(({ item, at }) => {
      const sentItem = this.#identify(item, at)
      if (!sentItem || takenItems.has(sentItem) || isOtherCall(sentItem, item)) return undefined
      takenItems.add(sentItem)
      return sentItem
    })
    // Each item of the output may look at all of these.
    const unpairedItems = this.#items.filter((one) => !takenItems.has(one)).slice(0, maxItems)
    return output.map(({ item, at }, index) => {
      if (knownItems[index]) return { item, at, sentItem: knownItems[index] }
      const next = unpairedItems.findIndex(
        (one) => one.type === item.type && !isOtherCall(one, item),
      )
      const [sentItem] = next < 0 ? [] : unpairedItems.splice(next, 1)
      return { item, at, sentItem }
    })
  }

  #identify({ type, call_id: callId, id }: ResponsesOutputItem, at: number): SentItem | undefined {
    const calledItem = callId ? this.#byCallId.get(callId) : undefined
    const identifiedItem = calledItem ?? (id ? this.#byId.get(`${type} ${id}`) : undefined)
    return identifiedItem ?? this.#numbered.get(`${type} ${at}`)
  }
}

const isOtherCall = ({ callId }: SentItem, { call_id: other }: ResponsesOutputItem): boolean =>
  Boolean(callId && other) && callId !== other
