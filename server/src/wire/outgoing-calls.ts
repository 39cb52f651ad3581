import { ArgumentsLength, CallArguments } from './call-arguments'
import { CallIds, type CallIdSource } from './call-ids'
import { withCalls, type FinishReason } from './finish-reason'
import { isObject, type JsonObject } from './json-body'
import type { TextSize } from './text-size'

/** The ids and names of calls. */
export interface CallNaming extends CallIdSource {
  /** Name of a tool at the provider -> name that the caller gave it, where they differ. */
  callerNames?: ReadonlyMap<string, string> | undefined
}

/** A part of a call, as one event of a provider adds it; empty texts add nothing. */
export interface CallPiece {
  id: string
  name: string
  /** More of its arguments, or of a custom tool's input. */
  text: string
  isCustom?: boolean
  /** Further fields of the call, and of its function or custom tool. */
  fields?: JsonObject
  toolFields?: JsonObject
}

/** One tool call of an answer, as far as its provider has sent it. */
export class OutgoingCall {
  /** The provider's id and name. */
  id = ''
  name = ''
  readonly isCustom: boolean
  readonly arguments: CallArguments
  /** Its position in the client's answer, once the client knows of it. */
  index: number | undefined
  /** Arguments that wait for the name. */
  #waiting = ''
  #fields: JsonObject = {}
  #toolFields: JsonObject = {}

  constructor(isCustom: boolean) {
    this.isCustom = isCustom
    this.arguments = new CallArguments({ isFree: isCustom })
  }

  /** Whether it has arguments and no name: nothing can be done with it. */
  get isUnnamed(): boolean {
    return this.name === '' && this.#waiting !== ''
  }

  /** Takes a piece; returns the arguments that can go out. */
  add({ id, name, text, fields, toolFields }: CallPiece): string {
    if (this.id === '') this.id = id
    if (this.name === '') this.name = name
    const released = this.arguments.add(text)
    if (this.index !== undefined) return released
    Object.assign(this.#fields, fields)
    Object.assign(this.#toolFields, toolFields)
    this.#waiting += released
    return ''
  }

  /** Its first delta, with empty arguments, and those that waited. */
  open(index: number, id: string, name: string): { head: JsonObject; text: string } {
    this.index = index
    const tool = this.isCustom
      ? { type: 'custom', custom: { ...this.#toolFields, name, input: '' } }
      : { type: 'function', function: { ...this.#toolFields, name, arguments: '' } }
    const text = this.#waiting
    this.#waiting = ''
    return { head: { index, id, ...tool, ...this.#fields }, text }
  }
}

/** The memory of a call beside its arguments, in characters of them. */
const callLength = 200

/**
 * The tool calls of one choice on their way to the client: a first delta with the name, also where that came late,
 * then pieces of arguments, one call a delta, indexes counted up from 0. Source: contract 12.5.
 */
export class OutgoingCalls {
  readonly #naming: CallNaming
  readonly #ids: CallIds
  readonly #calls: OutgoingCall[] = []
  /** Those of which the client knows, and of which nothing but `{}` has come. */
  readonly #empty = new Set<OutgoingCall>()
  readonly #length = new ArgumentsLength()
  #count = 0

  constructor(naming: CallNaming) {
    this.#naming = naming
    this.#ids = new CallIds(naming)
  }

  /** Whether the client knows of a call. */
  get any(): boolean {
    return this.#count > 0
  }

  get hasUnnamed(): boolean {
    return this.#calls.some(({ isUnnamed }) => isUnnamed)
  }

  /**
   * Begins a call without a name and arguments: no delta goes out for it yet. Throws `EventTooLong` where there are too
   * many, as all are remembered until the answer ends.
   */
  begin(isCustom = false): OutgoingCall {
    this.#length.add(callLength)
    const call = new OutgoingCall(isCustom)
    this.#calls.push(call)
    return call
  }

  /** Returns the deltas that a piece of a call becomes. Throws `EventTooLong` where all calls have too long arguments. */
  add(call: OutgoingCall, piece: CallPiece): JsonObject[] {
    const before = call.arguments.text.length
    const text = call.add(piece)
    this.#length.add(call.arguments.text.length - before)
    if (call.index !== undefined) return this.#addText(call, call.index, text)
    if (call.name === '') return []
    const name = this.#naming.callerNames?.get(call.name) ?? call.name
    const index = this.#count
    const opened = call.open(index, this.#ids.next(call.id), name)
    this.#count += 1
    return [opened.head, ...this.#addText(call, index, opened.text)]
  }

  #addText(call: OutgoingCall, index: number, text: string): JsonObject[] {
    if (call.arguments.isEmptyObject) this.#empty.add(call)
    if (text === '') return []
    this.#empty.delete(call)
    const isFirst = call.arguments.text.length === text.length
    const before = isFirst && !call.arguments.hadPlaceholder ? this.#endEmpty(index) : []
    return [...before, ...this.#fragment(call, text)]
  }

  /** Ends the calls with `{}` before one whose arguments came without it: their provider writes no placeholders. */
  #endEmpty(index: number): JsonObject[] {
    const deltas: JsonObject[] = []
    for (const call of this.#empty) {
      if (call.index === undefined || call.index > index) break
      this.#empty.delete(call)
      deltas.push(...this.#addEmpty(call))
    }
    return deltas
  }

  /**
   * Ends the calls of an answer that ended for `reason`. A call without arguments had none, `{}`, unless the answer was
   * cut: then it is no call yet. `isCut`: a call broke off before any of it was sent.
   */
  end(reason: FinishReason, isCut = false): { deltas: JsonObject[]; reason: FinishReason } {
    const isOrdinary = reason === 'stop' || reason === 'tool_calls'
    const numberedCalls = this.#calls.filter(({ index }) => index !== undefined)
    const deltas: JsonObject[] = []
    for (const call of numberedCalls) {
      if (call.isCustom || call.arguments.text !== '') continue
      if (isOrdinary || call.arguments.isEmptyObject) deltas.push(...this.#addEmpty(call))
    }
    const isWhole = numberedCalls.every(
      (call) => call.arguments.isWhole || (isOrdinary && !call.arguments.isOpen),
    )
    if (numberedCalls.length === 0)
      return { deltas, reason: withCalls(reason, isCut ? 'cut' : 'none') }
    return { deltas, reason: withCalls(reason, isWhole && !isCut ? 'whole' : 'cut') }
  }

  #addEmpty(call: OutgoingCall): JsonObject[] {
    return this.#fragment(call, call.arguments.addEmpty())
  }

  #fragment({ index, isCustom }: OutgoingCall, text: string): JsonObject[] {
    if (text === '') return []
    return [
      isCustom ? { index, custom: { input: text } } : { index, function: { arguments: text } },
    ]
  }
}

/** Deltas of calls as deltas of a message; the older form of tools has room for the first call alone. */
export function toMessageDeltas(
  calls: readonly JsonObject[],
  { legacyFunctions }: { legacyFunctions: boolean },
): JsonObject[] {
  if (!legacyFunctions) return calls.map((call) => ({ tool_calls: [call] }))
  const first = calls.filter(({ index }) => index === 0)
  return first.map((call) => ({ function_call: call['function'] }))
}

/** Adds the names and arguments in deltas of calls to the size of an answer. */
export function measureCalls(size: TextSize, calls: readonly JsonObject[]): void {
  for (const { function: calledFunction, custom } of calls) {
    const tool = calledFunction ?? custom
    if (!isObject(tool)) continue
    const { name, arguments: args, input } = tool
    if (typeof name === 'string') size.addCall(name)
    const text = args ?? input
    if (typeof text === 'string') size.add(text)
  }
}
