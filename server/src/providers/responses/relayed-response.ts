import { addItem } from './item-size'
import { toCallersFields } from './callers-response'
import { isBilledSearch, searchesIn } from './searches'
import { toUsage, withMissing } from './usage'
import { readEvent } from '../event'
import {
  withinVisible,
  withUnits,
  type RelayedStream,
  type RelayRequest,
} from '../openai/relayed-stream'
import { truncatedAnswer, toFailure, invalidAnswer } from '../upstream-error'
import { bareAnswerId } from '../../wire/answer'
import { isObject, type JsonObject } from '../../wire/json-body'
import { isEventName, namedFrame } from '../../wire/sse'
import { TextSize } from '../../wire/text-size'
import type { Usage } from '../../wire/usage'
import { withBoundedOutput } from '../../wire/usage-claims'

const lastTypes = new Set(['response.completed', 'response.incomplete'])
const failedTypes = new Set(['response.failed', 'response.cancelled'])

/** Characters of an answer that are kept for its early end; a longer one ends without the rest. */
const maxHeldBytes = 4 * 1024 * 1024

/** An item of the output that has begun, and its text from pieces so far. */
interface OpenItem {
  item: JsonObject
  index: unknown
  text: string
  contentIndex: unknown
}

/**
 * Passes the events of one Response on as they are, known or not, but for its id and its model. Its usage
 * is read from its last event.
 */
export class RelayedResponse implements RelayedStream {
  readonly #request: RelayRequest
  readonly #keepsId: boolean
  readonly #size: TextSize
  /** The items that are done, for an answer that has to be ended early. */
  readonly #completed: JsonObject[] = []
  readonly #open = new Map<unknown, OpenItem>()
  /** The Response as its provider sent it last. */
  #response: JsonObject = {}
  #sequence = 0
  #heldBytes = 0
  #usage: Usage | undefined
  /** Web searches that are billed. */
  #searches = 0
  isOver = false
  hasOutput = false

  constructor(request: RelayRequest, keepsId: boolean) {
    this.#request = request
    this.#size = new TextSize(request.units)
    this.#keepsId = keepsId
  }

  next(data: string): string[] {
    const { source } = this.#request
    const event = readEvent(data, source)
    const { type, response, sequence_number: number } = event
    if (!isEventName(type)) throw invalidAnswer(source.provider, 'an event without a name')
    // Nested errors are thrown already; this is the flat form.
    if (type === 'error') throw toFailure({ error: { ...event, type: '' } }, source)
    if (typeof number === 'number') this.#sequence = number
    if (isObject(response)) return [this.#lifecycle({ ...event, type }, response)]
    if (type !== 'keepalive') this.hasOutput = true
    this.#heldBytes += data.length
    this.#count(type, event)
    // Sends it as it came: JSON written anew could differ in its numbers.
    return [data.includes('\n') ? namedFrame({ ...event, type }) : frameOf(type, data)]
  }

  /** An event about the whole Response. */
  #lifecycle(event: JsonObject & { type: string }, response: JsonObject): string {
    const { type } = event
    const relayed = {
      ...response,
      ...this.#identity(response),
      ...toCallersFields(response, this.#request),
    }
    this.#response = relayed
    // A failure is charged by what was delivered, whatever it counts.
    if (failedTypes.has(type)) this.#fail(response)
    if (lastTypes.has(type)) {
      this.#usage = toUsage(response['usage'])
      this.#searches = searchesIn(response, this.#searches)
      // Its output may have come without any deltas.
      const isUncounted = this.#request.units?.characters === true && this.#size.characters === 0
      if ((this.#usage === undefined || isUncounted) && Array.isArray(response['output']))
        this.#addMissing(response['output'])
      this.isOver = true
    }
    return namedFrame({ ...event, response: relayed })
  }

  #identity({ id }: JsonObject): JsonObject {
    const { identity } = this.#request
    return { id: this.#keepsId ? id : `resp_${bareAnswerId(identity.id)}`, model: identity.model }
  }

  #fail({ error }: JsonObject): never {
    throw toFailure(
      { error: isObject(error) ? error : { message: 'The response failed.' } },
      this.#request.source,
    )
  }

  #addMissing(output: readonly unknown[]): void {
    for (const item of output.slice(this.#completed.length)) {
      if (isObject(item)) addItem(this.#size, item)
    }
  }

  #count(type: string, event: JsonObject): void {
    const { item, delta, output_index: index } = event
    if (type === 'response.output_item.added' && isObject(item)) {
      if (this.#hasRoom) this.#open.set(index, { item, index, text: '', contentIndex: 0 })
      if (typeof item['name'] === 'string') this.#size.addCall(item['name'])
    } else if (type === 'response.output_item.done' && isObject(item)) {
      const open = this.#open.get(index)
      this.#open.delete(index)
      if (this.#hasRoom) this.#completed.push(item)
      if (isBilledSearch(item)) this.#searches += 1
      // Content that came in pieces was counted already.
      if (!open || open.text === '') addItem(this.#size, item)
    } else if (typeof delta === 'string') {
      this.#addDelta(delta, event)
    } else if (event['partial_image_b64'] || event['annotation']) {
      this.#size.addOther(event)
    }
  }

  get #hasRoom(): boolean {
    return this.#heldBytes <= maxHeldBytes
  }

  #addDelta(delta: string, { output_index: index, content_index: contentIndex }: JsonObject): void {
    this.#size.add(delta)
    const open = this.#open.get(index)
    if (!open || !this.#hasRoom) return
    // A further part of a message begins anew.
    open.text = open.contentIndex === contentIndex ? open.text + delta : delta
    open.contentIndex = contentIndex
  }

  end(): string[] {
    if (!this.isOver) throw truncatedAnswer(this.#request.source)
    return []
  }

  tokensAtLeast(): number {
    return this.#size.tokensAtLeast
  }

  /** Ends the Response as one that has reached its output limit. */
  cut(maxTokens: number): string[] {
    this.#usage = withBoundedOutput(this.usage(), maxTokens)
    this.isOver = true
    const open = [...this.#open.values()].map(toIncomplete)
    const response = {
      ...this.#response,
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [...this.#completed, ...open.map(({ item }) => item)],
    }
    const events = [
      ...open.map((at) => ({ type: 'response.output_item.done', ...at })),
      { type: 'response.incomplete', response },
    ]
    return events.map(({ type, ...rest }) => {
      this.#sequence += 1
      return namedFrame({ type, sequence_number: this.#sequence, ...rest })
    })
  }

  hasContent(): boolean {
    return this.#size.hasContent
  }

  usage(): Usage {
    const estimate = () => this.#request.estimate(this.#size)
    const used = this.#usage
      ? withMissing(
          withinVisible(this.#usage, this.#size, this.#request),
          this.#response['usage'],
          estimate,
        )
      : estimate()
    const all = this.#searches > 0 ? { ...used, searches: this.#searches } : used
    return withUnits(all, this.#request, { size: () => this.#size })
  }
}

const frameOf = (type: string, data: string) => `event: ${type}\ndata: ${data}\n\n`

/** An item with as much of it as has come. */
function toIncomplete({ item, index, text }: OpenItem): {
  output_index: unknown
  item: JsonObject
} {
  const partial: JsonObject = { ...item, status: 'incomplete' }
  if (item['type'] === 'message') {
    partial['content'] = [{ type: 'output_text', annotations: [], logprobs: [], text }]
  } else if (item['type'] === 'function_call') partial['arguments'] = text
  else if (item['type'] === 'custom_tool_call') partial['input'] = text
  return { output_index: index, item: partial }
}
