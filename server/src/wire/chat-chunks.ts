import type { Identity } from './answer'
import type { AnswerUnits } from './answer-units'
import type { FinishReason } from './finish-reason'
import type { JsonObject } from './json-body'
import type { Part } from './answer-part'
import { TextSize } from './text-size'

interface Writing {
  identity: Identity
  /** The caller sent `functions`, the older form of tools, and gets the older answer. */
  legacyFunctions: boolean
  newCallId: () => string
  /** Name of a tool at the provider -> name that the caller gave it, where they differ. */
  callerNames?: ReadonlyMap<string, string> | undefined
  /** Units of the answer that are counted beside its tokens. */
  units?: AnswerUnits | undefined
}

/** A part of the answer's content, as opposed to its usage and its end. */
export type OutputPart = Exclude<Part, { type: 'usage' | 'end' }>

/**
 * Makes the chunks of a translated answer, of which there is one choice: the role alone, the content, the
 * finish. Source: contract 4.3, 12.5.
 */
export class ChatChunks {
  /** The size of the content so far, for a provider that does not count. */
  readonly size: TextSize
  readonly #writing: Writing
  /** Index of each call -> whether it got arguments. */
  readonly #calls = new Map<number, boolean>()
  #hasRole = false
  finished = false

  constructor(writing: Writing) {
    this.#writing = writing
    this.size = new TextSize(writing.units)
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
        return this.#finish(part.reason)
    }
  }

  #writeDelta(field: string, text: string): string[] {
    if (text === '') return []
    this.size.add(text)
    return this.#write({ [field]: text })
  }

  #call({ index, id, name, extra }: OutputPart & { type: 'call' }): string[] {
    if (this.#calls.has(index)) return []
    this.#calls.set(index, false)
    this.size.addCall(name)
    const called = { name: this.#writing.callerNames?.get(name) ?? name, arguments: '' }
    if (this.#writing.legacyFunctions) return this.#writeFunction(index, called)
    const callId = id === undefined || id === '' ? this.#writing.newCallId() : id
    const opening = { index, id: callId, type: 'function', function: called, ...extra }
    return this.#write({ tool_calls: [opening] })
  }

  #addArguments(index: number, text: string): string[] {
    if (text === '' || !this.#calls.has(index)) return []
    this.#calls.set(index, true)
    this.size.add(text)
    const called = { arguments: text }
    if (this.#writing.legacyFunctions) return this.#writeFunction(index, called)
    return this.#write({ tool_calls: [{ index, function: called }] })
  }

  /** The older form has room for one call; a second would run into the first. */
  #writeFunction(index: number, called: JsonObject): string[] {
    return index === 0 ? this.#write({ function_call: called }) : []
  }

  #finish(reason: FinishReason): string[] {
    // A call that ends without arguments had none, and clients parse the text.
    const closing = [...this.#calls].flatMap(([index, hasArguments]) =>
      hasArguments ? [] : this.#addArguments(index, '{}'),
    )
    const role = this.#openRole()
    this.finished = true
    return [...closing, ...role, this.#chunk({}, this.#reasonOf(reason))]
  }

  /** Ends an answer that is not paid for any further: with `length`, and with calls as they broke off. */
  cut(): string[] {
    if (this.finished) return []
    const role = this.#openRole()
    this.finished = true
    return [...role, this.#chunk({}, 'length')]
  }

  /** Tool calls are recognized by the answer's parts, not by the provider's finish reason. */
  #reasonOf(reason: FinishReason): FinishReason {
    if (reason === 'content_filter') return reason
    if (this.#calls.size === 0) return reason === 'tool_calls' ? 'stop' : reason
    return this.#writing.legacyFunctions ? 'function_call' : 'tool_calls'
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

  #chunk(delta: JsonObject, finish_reason: FinishReason | null): string {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason }]
    return JSON.stringify({ ...this.#writing.identity, choices })
  }
}
