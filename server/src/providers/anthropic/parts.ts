import { toEvent, type Event } from './events'
import { toFinish } from './finish-reason'
import { answerTool } from './json-answer'
import { hiddenThought, signedThought } from './reasoning-details'
import { toUsage } from './usage'
import type { JsonObject } from '../../wire/json-body'
import type { Part } from '../../wire/part'
import type { PartsReader } from '../adapter'
import { readEvent } from '../event'
import type { Source } from '../upstream-error'

/** Starts one answer. @see https://docs.claude.com/en/docs/build-with-claude/streaming */
export function partsReader(source: Source): PartsReader {
  const message = new MessageParts()
  return (data) => {
    const event = toEvent(readEvent(data, source), source)
    return event ? message.next(event) : []
  }
}

type Of<Type extends Event['type']> = Extract<Event, { type: Type }>

/** A content block that is not only text. */
type OpenBlock =
  | { kind: 'call'; index: number; input: JsonObject; hasArguments: boolean }
  | { kind: 'json' }
  | { kind: 'thinking'; text: string; signature: string }

class MessageParts {
  /** Running totals: a field left out keeps its earlier value. */
  #counts: JsonObject = {}
  #hasStarted = false
  #stopReason: string | undefined
  #calls = 0
  #thoughts = 0
  readonly #blocks = new Map<number, OpenBlock>()

  next(event: Event): Part[] {
    switch (event.type) {
      case 'message_start':
        return this.#start(event)
      case 'content_block_start':
        return this.#open(event)
      case 'content_block_delta':
        return this.#grow(event)
      case 'content_block_stop':
        return this.#close(event)
      case 'message_delta':
        return this.#revise(event)
      case 'message_stop':
      default:
        // Without a reason the answer is not whole, and its reader will say so.
        if (this.#stopReason === undefined) return [{ type: 'end' }]
        return [{ type: 'finish', reason: toFinish(this.#stopReason) }, { type: 'end' }]
    }
  }

  /** Some repeat the start, or splice in another one. */
  #start({ message }: Of<'message_start'>): Part[] {
    if (this.#hasStarted) return []
    this.#hasStarted = true
    this.#counts = { ...message.usage }
    return this.#usage()
  }

  #revise({ delta, usage }: Of<'message_delta'>): Part[] {
    this.#stopReason = delta.stop_reason ?? this.#stopReason
    for (const [name, count] of Object.entries(usage ?? {})) {
      if (count !== null) this.#counts[name] = count
    }
    // What the start said about output is no count of it.
    return typeof usage?.['output_tokens'] === 'number' ? this.#usage() : []
  }

  #usage(): Part[] {
    const usage = toUsage(this.#counts)
    return usage ? [{ type: 'usage', usage }] : []
  }

  #open({ index, content_block: block }: Of<'content_block_start'>): Part[] {
    switch (block.type) {
      case 'tool_use': {
        const { id, name = '', input = {} } = block
        if (name === answerTool) {
          this.#blocks.set(index, { kind: 'json' })
          return []
        }
        const call = this.#calls
        this.#calls += 1
        this.#blocks.set(index, { kind: 'call', index: call, input, hasArguments: false })
        return [{ type: 'call', index: call, ...(id !== undefined && { id }), name }]
      }
      case 'thinking': {
        const text = block.thinking ?? ''
        this.#blocks.set(index, { kind: 'thinking', text, signature: '' })
        return [{ type: 'reasoning', text }]
      }
      case 'redacted_thinking':
        return [this.#details(hiddenThought(block.data ?? '', this.#nextThought()))]
      default:
        return block.text ? [{ type: 'text', text: block.text }] : []
    }
  }

  #grow({ index, delta }: Of<'content_block_delta'>): Part[] {
    const block = this.#blocks.get(index)
    const { text = '', thinking = '', signature = '', partial_json: json = '' } = delta
    switch (delta.type) {
      case 'text_delta':
        return [{ type: 'text', text }]
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

  #close({ index }: Of<'content_block_stop'>): Part[] {
    const block = this.#blocks.get(index)
    this.#blocks.delete(index)
    if (block?.kind === 'thinking' && block.signature !== '') {
      return [this.#details(signedThought(block.text, block.signature, this.#nextThought()))]
    }
    // Some servers of this format give the whole input at the start.
    if (block?.kind !== 'call' || block.hasArguments) return []
    return [{ type: 'arguments', index: block.index, text: JSON.stringify(block.input) }]
  }

  #nextThought(): number {
    this.#thoughts += 1
    return this.#thoughts - 1
  }

  #details(detail: JsonObject): Part {
    return { type: 'extra', fields: { reasoning_details: [detail] } }
  }
}

function inputParts(block: OpenBlock | undefined, text: string): Part[] {
  if (block?.kind === 'json') return [{ type: 'text', text }]
  if (block?.kind !== 'call' || text === '') return []
  block.hasArguments = true
  return [{ type: 'arguments', index: block.index, text }]
}
