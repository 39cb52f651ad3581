import {
  within,
  type OutputItem,
  type OutputPosition,
  type ItemStatus,
  type StreamEvent,
} from './event'
import { toCallFields } from './calls'
import type { CallerTool } from './tool-kinds'
import { customInputIn } from '../../wire/custom-tools'
import type { JsonObject } from '../../wire/json-body'

/** Which tool is called, and the id that its result is to name. */
interface CalledTool {
  callId: string
  tool: CallerTool
}

/** A tool call on its way. */
export interface CallItem extends OutputItem {
  /** The next piece of the arguments. */
  addArguments(text: string): StreamEvent[]
}

/** The item of a call, by the kind of its tool. */
export function toCallItem(place: OutputPosition, called: CalledTool): CallItem {
  const { kind } = called.tool
  if (kind === 'function') return new FunctionCallItem(place, called)
  return kind === 'custom' ? new CustomCallItem(place, called) : new BuiltInCallItem(place, called)
}

const nameOf = ({ name, namespace }: CallerTool) => ({ name, ...(namespace && { namespace }) })

class FunctionCallItem implements CallItem {
  readonly #position: OutputPosition
  readonly #called: CalledTool
  #arguments = ''

  constructor(place: OutputPosition, called: CalledTool) {
    this.#position = place
    this.#called = called
  }

  toItem(status: ItemStatus): JsonObject {
    const { callId: call_id, tool } = this.#called
    const { id } = this.#position
    const fields = { ...nameOf(tool), arguments: this.#arguments }
    return { id, type: 'function_call', status, call_id, ...fields }
  }

  addArguments(text: string): StreamEvent[] {
    this.#arguments += text
    const type = 'response.function_call_arguments.delta'
    return [{ type, ...within(this.#position), delta: text }]
  }

  end(): StreamEvent[] {
    const type = 'response.function_call_arguments.done'
    const { name } = this.#called.tool
    return [{ type, ...within(this.#position), name, arguments: this.#arguments }]
  }
}

/**
 * A call of a custom tool: its text is inside the arguments of a function, so it can be sent only once
 * those are complete.
 */
class CustomCallItem implements CallItem {
  readonly #position: OutputPosition
  readonly #called: CalledTool
  #arguments = ''

  constructor(place: OutputPosition, called: CalledTool) {
    this.#position = place
    this.#called = called
  }

  toItem(status: ItemStatus): JsonObject {
    const { callId: call_id, tool } = this.#called
    const input = status === 'in_progress' ? '' : customInputIn(this.#arguments)
    return { id: this.#position.id, type: 'custom_tool_call', call_id, ...nameOf(tool), input }
  }

  addArguments(text: string): StreamEvent[] {
    this.#arguments += text
    return []
  }

  end(): StreamEvent[] {
    const input = customInputIn(this.#arguments)
    const at = within(this.#position)
    const done: StreamEvent = { type: 'response.custom_tool_call_input.done', ...at, input }
    if (input === '') return [done]
    return [{ type: 'response.custom_tool_call_input.delta', ...at, delta: input }, done]
  }
}

/** A call of a tool that OpenAI's models know by its type: its content is inside the arguments, too. */
class BuiltInCallItem implements CallItem {
  readonly #position: OutputPosition
  readonly #called: CalledTool
  #arguments = ''

  constructor(place: OutputPosition, called: CalledTool) {
    this.#position = place
    this.#called = called
  }

  toItem(status: ItemStatus): JsonObject {
    const { callId: call_id, tool } = this.#called
    return { id: this.#position.id, call_id, status, ...toCallFields(tool.kind, this.#arguments) }
  }

  addArguments(text: string): StreamEvent[] {
    this.#arguments += text
    return []
  }

  end(): StreamEvent[] {
    return []
  }
}
