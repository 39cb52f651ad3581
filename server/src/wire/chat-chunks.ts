import type { Identity } from './answer'
import type { AnswerUnits } from './answer-units'
import { withCalls, type FinishReason } from './finish-reason'
import type { JsonObject } from './json-body'
import type { Part } from './answer-part'
import {
  measureCalls,
  OutgoingCalls,
  toMessageDeltas,
  type CallNaming,
  type OutgoingCall,
} from './outgoing-calls'
import { TextSize } from './text-size'

interface Writing extends CallNaming {
  identity: Identity
  /** The caller sent `functions`, the older form of tools, and gets the older answer. */
  legacyFunctions: boolean
  /** Units of the answer that are counted beside its tokens. */
  units?: AnswerUnits | undefined
}

/** A part of the answer's content, as opposed to its usage and its end. */
export type OutputPart = Exclude<Part, { type: 'usage' | 'stop' | 'end' }>

/**
 * Makes the chunks of a translated answer, of which there is one choice: the role alone, the content, the
 * finish. Source: contract 4.3, 12.5.
 */
export class ChatChunks {
  /** The size of the content so far, for a provider that does not count. */
  readonly size: TextSize
  readonly #writing: Writing
  /** Most answers have no calls. */
  #outgoing: OutgoingCalls | undefined
  /** The calls by the index of their parts. */
  readonly #calls = new Map<number, OutgoingCall>()
  #hasRole = false
  finished = false

  constructor(writing: Writing) {
    this.#writing = writing
    this.size = new TextSize(writing.units)
  }

  /** Whether a call has arguments and no name. */
  get hasUnnamedCall(): boolean {
    return this.#outgoing?.hasUnnamed === true
  }

  /** The chunks that a part becomes, as JSON texts. Content after the finish is dropped. */
  add(part: OutputPart): string[] {
    if (this.finished) return []
    switch (part.type) {
      case 'text':
        return this.#writeDelta('content', part.text)
      case 'reasoning':
        return this.#writeDelta('reasoning_content', part.text)
      case 'refusal':
        return this.#writeDelta('refusal', part.text)
      case 'call':
        return this.#call(part)
      case 'arguments':
        return this.#addArguments(part.index, part.text)
      case 'annotation':
        this.size.addOther(part.annotation)
        return this.#write({ annotations: [part.annotation] })
      case 'extra':
        this.size.addOther(part.fields)
        return this.#write(part.fields)
      case 'finish':
      default:
        return this.#finish(part)
    }
  }

  #writeDelta(field: string, text: string): string[] {
    if (text === '') return []
    this.size.add(text)
    return this.#write({ [field]: text })
  }

  #call({ index, id = '', name, extra = {} }: OutputPart & { type: 'call' }): string[] {
    this.#outgoing ??= new OutgoingCalls(this.#writing)
    const piece = { id, name, text: '', fields: extra }
    const existingCall = this.#calls.get(index)
    if (existingCall) return this.#writeCalls(this.#outgoing.add(existingCall, piece))
    const call = this.#outgoing.begin()
    this.#calls.set(index, call)
    return this.#writeCalls(this.#outgoing.add(call, piece))
  }

  #addArguments(index: number, text: string): string[] {
    const call = this.#calls.get(index)
    if (!call || !this.#outgoing) return []
    return this.#writeCalls(this.#outgoing.add(call, { id: '', name: '', text }))
  }

  #writeCalls(deltas: readonly JsonObject[]): string[] {
    measureCalls(this.size, deltas)
    return toMessageDeltas(deltas, this.#writing).flatMap((delta) => this.#write(delta))
  }

  #finish({
    reason: providerReason,
    isCut,
    matchedStop,
  }: OutputPart & { type: 'finish' }): string[] {
    const ended = this.#outgoing?.end(providerReason, isCut)
    const reason = ended?.reason ?? withCalls(providerReason, isCut === true ? 'cut' : 'none')
    const closing = ended ? this.#writeCalls(ended.deltas) : []
    const role = this.#openRole()
    this.finished = true
    const isLegacy = reason === 'tool_calls' && this.#writing.legacyFunctions
    const beside = matchedStop === undefined ? undefined : { stop_reason: matchedStop }
    return [...closing, ...role, this.#chunk({}, isLegacy ? 'function_call' : reason, beside)]
  }

  /** Ends an answer that is not paid for any further: with `length`, and with calls as they broke off. */
  cut(): string[] {
    if (this.finished) return []
    const role = this.#openRole()
    this.finished = true
    return [...role, this.#chunk({}, 'length')]
  }

  #write(delta: JsonObject): string[] {
    return [...this.#openRole(), this.#chunk(delta, null)]
  }

  /** The role is sent once, before anything else. */
  #openRole(): string[] {
    if (this.#hasRole) return []
    this.#hasRole = true
    return [this.#chunk({ role: 'assistant', content: '' }, null)]
  }

  #chunk(delta: JsonObject, finish_reason: FinishReason | null, beside?: JsonObject): string {
    const choices = [{ index: 0, delta, logprobs: null, ...beside, finish_reason }]
    return JSON.stringify({ ...this.#writing.identity, choices })
  }
}
