import { toCompactJson } from '../../wire/call-arguments'
import type { FinishReason } from '../../wire/finish-reason'
import { isObject, toText, type JsonObject } from '../../wire/json-body'
import {
  OutgoingCalls,
  type CallNaming,
  type CallPiece,
  type OutgoingCall,
} from '../../wire/outgoing-calls'

/**
 * The tool calls of one choice of a stream, recognized by index and id: the first delta of a call names it and has
 * empty arguments, the following ones are pieces of arguments, one call a chunk, indexes counted up from 0.
 * Source: contract 12.5.
 */
export class ToolCallDeltas {
  readonly #outgoing: OutgoingCalls
  /** The latest call of each index of the provider's, of each id, and of both together. */
  readonly #byIndex = new Map<number, OutgoingCall>()
  readonly #byId = new Map<string, OutgoingCall>()
  readonly #byBoth = new Map<string, OutgoingCall>()
  #last: OutgoingCall | undefined

  constructor(naming: CallNaming) {
    this.#outgoing = new OutgoingCalls(naming)
  }

  get any(): boolean {
    return this.#outgoing.any
  }

  get hasUnnamed(): boolean {
    return this.#outgoing.hasUnnamed
  }

  /** The deltas that one entry of `delta.tool_calls` becomes. */
  next(entry: JsonObject): JsonObject[] {
    const piece = readCall(entry)
    const key = Number.isInteger(entry['index']) ? Number(entry['index']) : undefined
    const existingCall = this.#find(key, piece)
    if (existingCall) return this.#add(existingCall, key, piece)
    const call = this.#outgoing.begin(piece.isCustom)
    this.#last = call
    if (key !== undefined) this.#byIndex.set(key, call)
    return this.#add(call, key, piece)
  }

  #add(call: OutgoingCall, key: number | undefined, piece: CallPiece): JsonObject[] {
    if (call.id === '' && piece.id !== '') {
      this.#byId.set(piece.id, call)
      if (key !== undefined) this.#byBoth.set(toBothKey(key, piece.id), call)
    }
    return this.#outgoing.add(call, piece)
  }

  /** Ends the calls of a choice that ended for `reason`. */
  end(reason: FinishReason): { deltas: JsonObject[]; reason: FinishReason } {
    return this.#outgoing.end(reason)
  }

  /** The call that a piece continues; undefined for one that begins. */
  #find(key: number | undefined, piece: CallPiece): OutgoingCall | undefined {
    const { id, name } = piece
    const foundCall =
      key === undefined
        ? this.#byId.get(id)
        : (this.#byBoth.get(toBothKey(key, id)) ?? this.#byIndex.get(key))
    if (foundCall) return beginsAnother(foundCall, piece) ? undefined : foundCall
    if (key !== undefined || name !== '') return undefined
    // Without index and id, a name begins a call and anything else continues the last.
    return id === '' || this.#last?.id === '' ? this.#last : undefined
  }
}

const toBothKey = (index: number, id: string) => `${index} ${id}`

/**
 * Whether a piece with the index or the id of a call begins another call: some providers give all calls one index, and
 * some give each piece of a call another id, or repeat all of it.
 */
function beginsAnother(call: OutgoingCall, { id, name, text }: CallPiece): boolean {
  const { isWhole, text: sentText } = call.arguments
  if (id !== '' && call.id !== '' && id !== call.id) {
    return isWhole || (name !== '' && (name !== call.name || sentText === ''))
  }
  if (!isWhole || name === '') return false
  const other = toCompactJson(text)
  return other !== undefined && other !== call.arguments.json
}

/** Reads an entry of `tool_calls`: of a stream, or a whole one. Goes by its type, where the tool has both forms. */
export function readCall(entry: JsonObject): CallPiece {
  const { function: calledFunction, custom, index: _index, id, type, ...fields } = entry
  const isCustom =
    isObject(custom) && (type === 'custom' || (type !== 'function' && !isObject(calledFunction)))
  const tool = isCustom ? custom : isObject(calledFunction) ? calledFunction : {}
  const { name, arguments: args, input, ...toolFields } = tool
  return {
    id: toText(id),
    name: toText(name),
    text: isCustom ? toText(input) : toArgumentText(args),
    isCustom,
    fields,
    toolFields,
  }
}

/** Some providers send arguments as an object. */
const toArgumentText = (value: unknown) => (isObject(value) ? JSON.stringify(value) : toText(value))
