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
import { isObject, type JsonObject } from '../../wire/json-body'
import { eventShape } from '../../wire/json-shape'
import { parseShaped } from '../../wire/json-slices'

/** Which tool is called, and the id that its result is to name. */
interface CalledTool {
  callId: string
  tool: CallerTool
}

/** A tool call on its way. */
export interface CallItem extends OutputItem {
  /** The next piece of the arguments. */
  addArguments(text: string): StreamEvent[]
  /** Whether its arguments are a JSON object. */
  isWhole(): boolean
}

function isObjectText(text: string): boolean {
  try {
    return isObject(parseShaped(text, eventShape))
  } catch {
    return false
  }
}

/** The item of a call, by the kind of its tool. */
export function toCallItem(place: OutputPosition, calledTool: CalledTool): CallItem {
  const { kind } = calledTool.tool
  if (kind === 'function') return new FunctionCallItem(place, calledTool)
  return kind === 'custom'
    ? new CustomCallItem(place, calledTool)
    : new BuiltInCallItem(place, calledTool)
}

const nameOf = ({ name, namespace }: CallerTool) => ({ name, ...(namespace && { namespace }) })

class FunctionCallItem implements CallItem {
  readonly #position: OutputPosition
  readonly #calledTool: CalledTool
  #arguments = ''

  constructor(place: OutputPosition, calledTool: CalledTool) {
    this.#position = place
    this.#calledTool = calledTool
  }

  toItem(status: ItemStatus): JsonObject {
    const { callId: call_id, tool } = this.#calledTool
    const { id } = this.#position
    const fields = { ...nameOf(tool), arguments: this.#arguments }
    return { id, type: 'function_call', status, call_id, ...fields }
  }

  addArguments(text: string): StreamEvent[] {
    this.#arguments += text
    const type = 'response.function_call_arguments.delta'
    return [{ type, ...within(this.#position), delta: text }]
  }

  isWhole(): boolean {
    return isObjectText(this.#arguments)
  }

  end(): StreamEvent[] {
    const type = 'response.function_call_arguments.done'
    const { name } = this.#calledTool.tool
    return [{ type, ...within(this.#position), name, arguments: this.#arguments }]
  }
}

/**
 * A call of a custom tool: its text is inside the arguments of a function, so it can be sent only once
 * those are complete.
 */
class CustomCallItem implements CallItem {
  readonly #position: OutputPosition
  readonly #calledTool: CalledTool
  #arguments = ''

  constructor(place: OutputPosition, calledTool: CalledTool) {
    this.#position = place
    this.#calledTool = calledTool
  }

  toItem(status: ItemStatus): JsonObject {
    const { callId: call_id, tool } = this.#calledTool
    const input = status === 'in_progress' ? '' : customInputIn(this.#arguments)
    return { id: this.#position.id, type: 'custom_tool_call', call_id, ...nameOf(tool), input }
  }

  addArguments(text: string): StreamEvent[] {
    this.#arguments += text
    return []
  }

  isWhole(): boolean {
    return isObjectText(this.#arguments)
  }

  end(): StreamEvent[] {
    const input = customInputIn(this.#arguments)
    const at = within(this.#position)
    const doneEvent: StreamEvent = { type: 'response.custom_tool_call_input.done', ...at, input }
    if (input === '') return [doneEvent]
    return [{ type: 'response.custom_tool_call_input.delta', ...at, delta: input }, doneEvent]
  }
}

/** A call of a tool that OpenAI's models know by its type: its content is inside the arguments, too. */
class BuiltInCallItem implements CallItem {
  readonly #position: OutputPosition
  readonly #calledTool: CalledTool
  #arguments = ''

  constructor(place: OutputPosition, calledTool: CalledTool) {
    this.#position = place
    this.#calledTool = calledTool
  }

  toItem(status: ItemStatus): JsonObject {
    const { callId: call_id, tool } = this.#calledTool
    return { id: this.#position.id, call_id, status, ...toCallFields(tool.kind, this.#arguments) }
  }

  addArguments(text: string): StreamEvent[] {
    this.#arguments += text
    return []
  }

  isWhole(): boolean {
    return isObjectText(this.#arguments)
  }

  end(): StreamEvent[] {
    return []
  }
}
