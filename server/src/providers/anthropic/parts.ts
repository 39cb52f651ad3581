import { toCitationAnnotation } from './citations'
import { toEvent, type AnswerBlock, type MessagesEvent } from './events'
import { toFinish } from './finish-reason'
import { answerTool } from './json-answer'
import { hiddenThought, signedThought } from './reasoning-details'
import { hasCount, toUsage } from './usage'
import { isObject, type JsonObject, toObjects } from '../../wire/json-body'
import type { Part } from '../../wire/answer-part'
import { unnamedStop } from '../../wire/stop-sequence'
import type { PartsReader } from '../adapter'
import { readEvent } from '../event'
import { invalidAnswer, type ErrorSource, limitOpenBlocks } from '../upstream-error'

/** Starts one answer. @see https://docs.claude.com/en/docs/build-with-claude/streaming */
export function createPartsReader(source: ErrorSource): PartsReader {
  const message = new MessageParts(source)
  return (data) => {
    const event = toEvent(readEvent(data, source), source)
    return event ? message.next(event) : []
  }
}

type Of<Type extends MessagesEvent['type']> = Extract<MessagesEvent, { type: Type }>

/** A content block that has begun. */
type OpenBlock =
  | { kind: 'text'; start: number; citations: JsonObject[] }
  | { kind: 'call'; index: number; input: JsonObject; hasArguments: boolean }
  | { kind: 'json'; input: JsonObject; hasText: boolean }
  | { kind: 'thinking'; text: string; signature: string }

class MessageParts {
  /** Running totals: a field left out keeps its earlier value. */
  #counts: JsonObject = {}
  readonly #source: ErrorSource
  /** The id of the message; null for one without. */
  #id: string | null | undefined
  #hasBlocks = false
  #isRevised = false
  #stopReason: string | undefined
  #stopSequence: string | undefined
  #calls = 0
  #thoughts = 0
  /** Characters of text so far. */
  #length = 0
  readonly #blocks = new Map<number, OpenBlock>()

  constructor(source: ErrorSource) {
    this.#source = source
  }

  next(event: MessagesEvent): Part[] {
    switch (event.type) {
      case 'message_start':
        return this.#start(event)
      case 'content_block_start':
        return this.#open(event.index, event.content_block)
      case 'content_block_delta':
        return this.#grow(event)
      case 'content_block_stop':
        return this.#close(event.index)
      case 'message_delta':
        return this.#revise(event)
      case 'message_stop':
      default:
        // Where no event could have named the reason the answer is not whole, and its reader reports it.
        if (this.#stopReason === undefined && !this.#isRevised) return [{ type: 'end' }]
        return [this.#finish(this.#stopReason ?? 'end_turn'), { type: 'end' }]
    }
  }

  /**
   * Some providers repeat the start. Another message behind the blocks of the first would be taken for its
   * end, with calls of which half belongs to the other.
   */
  #start({ message }: Of<'message_start'>): Part[] {
    const { id = null, content, usage, stop_reason: reason } = message
    if (this.#id !== undefined) {
      if (id === this.#id || !this.#hasBlocks) return []
      throw invalidAnswer(this.#source.provider, 'a second message inside the first')
    }
    this.#id = id
    this.#counts = { ...usage }
    this.#stopReason = reason
    const initialParts = (content ?? []).flatMap((block, index) => [
      ...this.#open(index, block),
      ...this.#close(index),
    ])
    return [...initialParts, ...this.#stop(), ...this.#usage()]
  }

  #revise({ delta, usage }: Of<'message_delta'>): Part[] {
    this.#isRevised = true
    this.#stopReason = delta?.stop_reason ?? this.#stopReason
    this.#stopSequence = delta?.stop_sequence ?? this.#stopSequence
    const stop = this.#stop()
    for (const [name, count] of Object.entries(usage ?? {})) {
      if (count !== null) this.#counts[name] = count
    }
    // The output in the start event is no count of it.
    return typeof usage?.['output_tokens'] === 'number' ? [...stop, ...this.#usage()] : stop
  }

  /** Some servers do not send the event that ends the message. */
  #stop(): Part[] {
    return this.#stopReason === undefined
      ? []
      : [{ type: 'stop', reason: toFinish(this.#stopReason) }]
  }

  #finish(stopReason: string): Part {
    const isStop = stopReason === unnamedStop
    const matchedStop = this.#stopSequence ?? unnamedStop
    return { type: 'finish', reason: toFinish(stopReason), ...(isStop && { matchedStop }) }
  }

  #usage(): Part[] {
    const usage = toUsage(this.#counts)
    if (!usage) return []
    const missingSides = hasCount(this.#counts, 'input_tokens') ? undefined : { prompt: true }
    return [{ type: 'usage', usage, missing: missingSides }]
  }

  #open(index: number, block: AnswerBlock): Part[] {
    this.#hasBlocks = true
    limitOpenBlocks(this.#blocks.size, this.#source)
    if (this.#blocks.get(index)?.kind === 'call') {
      throw invalidAnswer(this.#source.provider, 'a block that starts inside itself')
    }
    switch (block.type) {
      case 'tool_use':
        return this.#call(index, block)
      case 'thinking': {
        const { thinking: text = '', signature = '' } = block
        this.#blocks.set(index, { kind: 'thinking', text, signature })
        return [{ type: 'reasoning', text }]
      }
      case 'redacted_thinking':
        return [this.#details(hiddenThought(block.data ?? '', this.#nextThought()))]
      case 'text': {
        const citations = [...toObjects(block.citations)]
        this.#blocks.set(index, { kind: 'text', start: this.#length, citations })
        return this.#toTextParts(block.text ?? '')
      }
      default:
        return []
    }
  }

  #call(index: number, { id, name = '', input = {} }: AnswerBlock): Part[] {
    if (name === answerTool) {
      this.#blocks.set(index, { kind: 'json', input, hasText: false })
      return []
    }
    const call = this.#calls
    this.#calls += 1
    this.#blocks.set(index, { kind: 'call', index: call, input, hasArguments: false })
    return [{ type: 'call', index: call, ...(id !== undefined && { id }), name }]
  }

  #toTextParts(text: string): Part[] {
    this.#length += text.length
    return text === '' ? [] : [{ type: 'text', text }]
  }

  #grow({ index, delta }: Of<'content_block_delta'>): Part[] {
    const block = this.#blocks.get(index)
    const { text = '', thinking = '', signature = '', partial_json: json = '' } = delta
    switch (delta.type) {
      case 'text_delta':
        return this.#toTextParts(text)
      case 'citations_delta':
        noteCitation(block, delta.citation)
        return []
      case 'thinking_delta':
        if (block?.kind === 'thinking') block.text += thinking
        return [{ type: 'reasoning', text: thinking }]
      case 'signature_delta':
        if (block?.kind === 'thinking') block.signature += signature
        return []
      case 'input_json_delta':
        return inputParts(block, json)
      default:
        return []
    }
  }

  #close(index: number): Part[] {
    const block = this.#blocks.get(index)
    this.#blocks.delete(index)
    if (block?.kind === 'text') return this.#cite(block)
    if (block?.kind === 'thinking' && block.signature !== '') {
      return [this.#details(signedThought(block.text, block.signature, this.#nextThought()))]
    }
    // Some servers of this format give the whole input at the start.
    if (block?.kind === 'json' && !block.hasText && Object.keys(block.input).length > 0) {
      return [{ type: 'text', text: JSON.stringify(block.input) }]
    }
    if (block?.kind !== 'call' || block.hasArguments) return []
    // Whether a call without arguments has none, or was cut before them, shows at the end.
    if (Object.keys(block.input).length === 0) return []
    return [{ type: 'arguments', index: block.index, text: JSON.stringify(block.input) }]
  }

  /** The whole block carries the citation: its text may come before the citations, or after them. */
  #cite({ start, citations }: OpenBlock & { kind: 'text' }): Part[] {
    const range = { start, end: this.#length }
    return citations.flatMap((citation) => {
      const annotation = toCitationAnnotation(citation, range)
      return annotation ? [{ type: 'annotation' as const, annotation }] : []
    })
  }

  #nextThought(): number {
    this.#thoughts += 1
    return this.#thoughts - 1
  }

  #details(detail: JsonObject): Part {
    return { type: 'extra', fields: { reasoning_details: [detail] } }
  }
}

function noteCitation(block: OpenBlock | undefined, citation: unknown): void {
  if (block?.kind === 'text' && isObject(citation)) block.citations.push(citation)
}

function inputParts(block: OpenBlock | undefined, text: string): Part[] {
  if (block?.kind === 'json') {
    block.hasText ||= text !== ''
    return [{ type: 'text', text }]
  }
  if (block?.kind !== 'call' || text === '') return []
  block.hasArguments = true
  return [{ type: 'arguments', index: block.index, text }]
}
