import { isObject, type JsonObject } from '../../src/wire/json-body'

/** One item, rebuilt from its events alone. */
interface EventState {
  item: JsonObject
  /** Texts of its parts, those that have begun. */
  parts: { type: unknown; text: string; annotations: number; isDone: boolean }[]
  isDone: boolean
}

const objectIn = (event: JsonObject, name: string): JsonObject => {
  const value = event[name]
  if (!isObject(value)) throw new Error(`${String(event['type'])} without ${name}`)
  return value
}
const listIn = (event: JsonObject, name: string): unknown[] => {
  const value = event[name]
  if (!Array.isArray(value)) throw new Error(`no list ${name}`)
  return value
}

function same(found: unknown, expected: unknown, what: string): void {
  if (Bun.deepEquals(found, expected, true)) return
  throw new Error(`${what}: ${JSON.stringify(found)} is not ${JSON.stringify(expected)}`)
}

const isCall = (item: JsonObject) => String(item['type']).endsWith('call')

/** The field that holds the text of a part, by the type of its item or part. */
const textFields: Record<string, string> = {
  output_text: 'text',
  refusal: 'refusal',
  summary_text: 'text',
  function_call: 'arguments',
  custom_tool_call: 'input',
}

/** Reads the events of one stream as a strict client does. Throws for the first that is out of place. */
export class EventOrder {
  readonly #items: EventState[] = []
  #count = 0
  #last: JsonObject | undefined

  /** The whole Response of the last event. Throws when the stream was not whole. */
  static read(events: readonly JsonObject[]): JsonObject {
    const order = new EventOrder()
    for (const event of events) order.take(event)
    if (!order.#last) throw new Error('the stream has no last event')
    return order.#last
  }

  take(event: JsonObject): void {
    same(event['sequence_number'], this.#count, 'sequence_number')
    this.#count += 1
    if (this.#last) throw new Error('an event after the last one')
    const { type } = event
    if (this.#count === 1) return same(type, 'response.created', 'first event')
    if (this.#count === 2) return same(type, 'response.in_progress', 'second event')
    if (type === 'response.output_item.added') return this.#added(event)
    if (isObject(event['response'])) return this.#end(String(type), event['response'])
    const state = this.#items[Number(event['output_index'])]
    if (!state || state.isDone) throw new Error(`${String(type)} outside of an item`)
    if (type === 'response.output_item.done') return this.#done(event, state)
    same(event['item_id'], state.item['id'], 'item_id')
    this.#inside(event, state)
  }

  #added(event: JsonObject): void {
    same(event['output_index'], this.#items.length, 'output_index')
    const item = objectIn(event, 'item')
    const others = this.#items.filter(({ isDone }) => !isDone)
    if (others.some((other) => !isCall(other.item) || !isCall(item))) {
      throw new Error('an item inside of another')
    }
    if (this.#items.some((other) => other.item['id'] === item['id'])) throw new Error('an id twice')
    const parts = isCall(item)
      ? [{ type: item['type'], text: '', annotations: 0, isDone: false }]
      : []
    this.#items.push({ item, parts, isDone: false })
  }

  #inside(event: JsonObject, state: EventState): void {
    const type = String(event['type'])
    const at = event['content_index'] ?? event['summary_index'] ?? 0
    if (type.endsWith('part.added')) {
      if (state.parts.some(({ isDone }) => !isDone)) throw new Error('a part inside of another')
      same(at, state.parts.length, 'index of a part')
      const { type: kind } = objectIn(event, 'part')
      state.parts.push({ type: kind, text: '', annotations: 0, isDone: false })
      return
    }
    const part = state.parts[Number(at)]
    if (!part || part.isDone) throw new Error(`${type} outside of a part`)
    const field = textFields[String(part.type)] ?? ''
    if (type.endsWith('annotation.added')) {
      same(event['annotation_index'], part.annotations, 'annotation_index')
      part.annotations += 1
    } else if (type.endsWith('.delta')) {
      if (part.type === 'output_text') same(event['logprobs'], [], 'logprobs')
      part.text += String(event['delta'])
    } else if (type.endsWith('part.done')) {
      same(objectIn(event, 'part')[field], part.text, type)
      part.isDone = true
    } else {
      same(event[field], part.text, type)
      if (part.type === state.item['type']) part.isDone = true
    }
  }

  #done(event: JsonObject, state: EventState): void {
    if (state.parts.some(({ isDone }) => !isDone))
      throw new Error('an item is done before its part')
    const item = objectIn(event, 'item')
    for (const name of ['id', 'type', 'call_id', 'name']) same(item[name], state.item[name], name)
    const { content, summary } = item
    const parts = Array.isArray(content) ? content : Array.isArray(summary) ? summary : [item]
    const streamed = parts.map((part) => [part.type, part[textFields[part.type] ?? '']])
    same(
      streamed,
      state.parts.map(({ type, text }) => [type, text]),
      'the texts of an item',
    )
    state.item = item
    state.isDone = true
  }

  #end(type: string, response: JsonObject): void {
    same(type, `response.${String(response['status'])}`, 'the last event')
    const output = listIn(response, 'output')
    same(output.length, this.#items.length, 'items of the output')
    for (const [index, { item, isDone }] of this.#items.entries()) {
      if (isDone) same(output[index], item, 'an item of the output')
      else if (type !== 'response.failed') throw new Error('an item was never done')
    }
    this.#last = response
  }
}
