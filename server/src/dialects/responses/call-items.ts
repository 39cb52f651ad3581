import { within, type OutputItem, type Place, type Status, type StreamEvent } from './event'
import { freeTextIn } from './tools'
import type { JsonObject } from '../../wire/json-body'

/** Which tool is called, and the id that its result is to name. */
export interface Called {
  callId: string
  name: string
}

/** A tool call on its way. */
export interface CallItem extends OutputItem {
  /** The next piece of the arguments. */
  argue(text: string): StreamEvent[]
}

export class FunctionCallItem implements CallItem {
  readonly #place: Place
  readonly #called: Called
  #arguments = ''

  constructor(place: Place, called: Called) {
    this.#place = place
    this.#called = called
  }

  toItem(status: Status): JsonObject {
    const { callId: call_id, name } = this.#called
    const { id } = this.#place
    return { id, type: 'function_call', status, call_id, name, arguments: this.#arguments }
  }

  argue(text: string): StreamEvent[] {
    this.#arguments += text
    const type = 'response.function_call_arguments.delta'
    return [{ type, ...within(this.#place), delta: text }]
  }

  end(): StreamEvent[] {
    const type = 'response.function_call_arguments.done'
    const { name } = this.#called
    return [{ type, ...within(this.#place), name, arguments: this.#arguments }]
  }
}

/** Its text is inside the arguments of a function, so it can be told only when those have come. */
export class CustomCallItem implements CallItem {
  readonly #place: Place
  readonly #called: Called
  #arguments = ''

  constructor(place: Place, called: Called) {
    this.#place = place
    this.#called = called
  }

  toItem(status: Status): JsonObject {
    const { callId: call_id, name } = this.#called
    const input = status === 'in_progress' ? '' : freeTextIn(this.#arguments)
    return { id: this.#place.id, type: 'custom_tool_call', call_id, name, input }
  }

  argue(text: string): StreamEvent[] {
    this.#arguments += text
    return []
  }

  end(): StreamEvent[] {
    const input = freeTextIn(this.#arguments)
    const at = within(this.#place)
    const done: StreamEvent = { type: 'response.custom_tool_call_input.done', ...at, input }
    if (input === '') return [done]
    return [{ type: 'response.custom_tool_call_input.delta', ...at, delta: input }, done]
  }
}
