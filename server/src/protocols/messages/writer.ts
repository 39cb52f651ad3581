import { thoughtBlock, type RenderedContent } from './answer'
import { toCallId } from './call-id'
import { toCitations } from './citations'
import { ThoughtReader, type Thought } from './thoughts'
import { messageHead, toMessageUsage, toStop } from './message-render'
import { errorFrame } from './error-format'
import type { ApiError } from '../../errors'
import { bareAnswerId, type Identity } from '../../wire/answer'
import { toChunkParts } from '../../wire/chunk-parts'
import type { EventWriter } from '../../wire/event-writer'
import { isObject, type JsonObject } from '../../wire/json-body'
import type { Part } from '../../wire/answer-part'
import { namedFrame } from '../../wire/sse'
import { noUsage, type Usage } from '../../wire/usage'

type Kind = 'text' | 'thinking' | 'hidden' | 'call'

/** A block that is not closed yet. */
interface Block {
  kind: Kind
  /** The block's content in its start event. */
  content: JsonObject
  /** Events that wait while the blocks before this one are open. */
  waiting: JsonObject[]
  /** The arguments of a call, to detect when they are whole. */
  arguments: string
  /** Its start event is written. */
  hasStarted: boolean
}

const newBlock = (kind: Kind, content: JsonObject): Block => ({
  kind,
  content,
  waiting: [],
  arguments: '',
  hasStarted: false,
})

const pingEvent = namedFrame({ type: 'ping' })

/**
 * Writes the events of a streamed message: one block after the other, though chunks may take turns
 * between calls. @see https://docs.claude.com/en/docs/build-with-claude/streaming
 */
export class MessageWriter implements EventWriter {
  readonly #identity: Identity
  readonly #rendered: RenderedContent
  readonly #promptTokens: number
  /** The first is the one that is open; those behind it wait. */
  readonly #blocks: Block[] = []
  readonly #calls = new Map<number, Block>()
  readonly #thoughts = new ThoughtReader()
  #index = 0
  #hasStarted = false
  #finish: (Part & { type: 'finish' }) | undefined
  #usage: Usage | undefined

  /** `promptTokens` is an estimate: the prompt is counted at the end. */
  constructor(identity: Identity, rendered: RenderedContent, promptTokens: number) {
    this.#identity = identity
    this.#rendered = rendered
    this.#promptTokens = promptTokens
  }

  keepAlive(): string {
    return pingEvent
  }

  write(chunk: string): string {
    const read: unknown = JSON.parse(chunk)
    if (!isObject(read)) return this.#start()
    let text = this.#start(read['model'])
    for (const part of toChunkParts(read)) text += this.#add(part)
    return text
  }

  end(): string {
    const delta = toStop(this.#finish ?? {}, this.#rendered.stopSequences)
    const usage = toMessageUsage(this.#usage)
    return [
      this.#start(),
      this.#closeAll(),
      namedFrame({ type: 'message_delta', delta, usage }),
      namedFrame({ type: 'message_stop' }),
    ].join('')
  }

  fail(error: ApiError, requestId: string): string {
    return errorFrame(error, requestId)
  }

  /** `model` is the one that serves, which may differ from the first candidate of a collection. */
  #start(model?: unknown): string {
    if (this.#hasStarted) return ''
    this.#hasStarted = true
    const { id, model: requestedModel } = this.#identity
    const message = {
      ...messageHead(bareAnswerId(id), typeof model === 'string' ? model : requestedModel),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: toMessageUsage({ ...noUsage, input: this.#promptTokens }),
    }
    return namedFrame({ type: 'message_start', message })
  }

  #add(part: Part): string {
    switch (part.type) {
      case 'text':
      case 'refusal':
        return this.#writeDelta('text', part.text)
      case 'reasoning':
        return this.#rendered.thinking ? this.#writeDelta('thinking', part.text) : ''
      case 'extra':
        return this.#rendered.thinking ? this.#addThoughts(this.#thoughts.add(part.fields)) : ''
      case 'annotation':
        return this.#cite(part.annotation)
      case 'call':
        return this.#call(part)
      case 'arguments':
        return this.#addArguments(part)
      case 'usage':
        this.#usage = part.usage
        return ''
      case 'finish':
        this.#finish = part
        return ''
      default:
        return ''
    }
  }

  #writeDelta(kind: 'text' | 'thinking', text: string): string {
    const last = this.#blocks.at(-1)
    const fresh: JsonObject =
      kind === 'text' ? { type: kind, text: '' } : { type: kind, thinking: '', signature: '' }
    const delta = { type: `${kind}_delta`, [kind]: text }
    if (last?.kind === kind) return this.#grow(last, delta)
    const block = newBlock(kind, fresh)
    const opened = this.#open(block)
    return text === '' ? opened : opened + this.#grow(block, delta)
  }

  /** A citation of a text that is already behind other blocks has no place, and is left out. */
  #cite(annotation: JsonObject): string {
    const last = this.#blocks.at(-1)
    if (last?.kind !== 'text') return ''
    return toCitations(annotation)
      .map((citation) => this.#grow(last, { type: 'citations_delta', citation }))
      .join('')
  }

  /** A signature ends the thought that it is for; one of a silent thought comes alone. */
  #addThoughts(thoughts: readonly Thought[]): string {
    let frames = ''
    for (const thought of thoughts) {
      const content = thoughtBlock(thought)
      if ('data' in thought) {
        frames += this.#open(newBlock('hidden', content))
        continue
      }
      if (this.#blocks.at(-1)?.kind !== 'thinking')
        frames += this.#writeDelta('thinking', thought.text)
      const block = this.#blocks.at(-1)
      if (!block) continue
      frames += this.#grow(block, { type: 'signature_delta', signature: thought.signature })
      // The next thought is a block of its own.
      block.kind = 'hidden'
    }
    return frames
  }

  #call({ index, id, name }: Part & { type: 'call' }): string {
    if (this.#calls.has(index)) return ''
    const content = { type: 'tool_use', id: toCallId(id ?? ''), name, input: {} }
    const block = newBlock('call', content)
    this.#calls.set(index, block)
    return this.#open(block)
  }

  /** Pieces that arrive for a call that was already whole are white space. */
  #addArguments({ index, text }: Part & { type: 'arguments' }): string {
    const block = this.#calls.get(index)
    if (!block || !this.#blocks.includes(block)) return ''
    block.arguments += text
    const grown = this.#grow(block, { type: 'input_json_delta', partial_json: text })
    // `{}` comes late, when others may have begun behind it.
    const isLate = block === this.#blocks[0] && this.#blocks.length > 1 && block.arguments === '{}'
    return isLate ? grown + this.#closeFirst() : grown
  }

  #open(block: Block): string {
    const [current] = this.#blocks
    this.#blocks.push(block)
    if (!current) return this.#startBlock(block)
    return isComplete(current) ? this.#closeFirst() : ''
  }

  #grow(block: Block, delta: JsonObject): string {
    if (block !== this.#blocks[0]) {
      block.waiting.push(delta)
      return ''
    }
    return this.#startBlock(block) + this.#delta(delta)
  }

  /** Writes the start of a block, once. That of a call waits for its arguments: cut before them, it is no call. */
  #startBlock(block: Block): string {
    const { content: content_block, waiting, kind } = block
    if (block.hasStarted || (kind === 'call' && block.arguments === '')) return ''
    block.hasStarted = true
    const start = namedFrame({ type: 'content_block_start', index: this.#index, content_block })
    return start + waiting.map((delta) => this.#delta(delta)).join('')
  }

  #delta(delta: JsonObject): string {
    return namedFrame({ type: 'content_block_delta', index: this.#index, delta })
  }

  /** And opens the next, which closes too where it is whole and others wait behind it. */
  #closeFirst(): string {
    let frames = ''
    for (;;) {
      if (this.#blocks.shift()?.hasStarted === true) {
        frames += namedFrame({ type: 'content_block_stop', index: this.#index })
        this.#index += 1
      }
      const [next, behind] = this.#blocks
      if (!next) return frames
      frames += this.#startBlock(next)
      if (!behind || !isComplete(next)) return frames
    }
  }

  #closeAll(): string {
    let frames = ''
    while (this.#blocks.length > 0) frames += this.#closeFirst()
    return frames
  }
}

/** Returns whether a block in front of others can receive no more content. */
function isComplete({ kind, arguments: text }: Block): boolean {
  if (kind !== 'call') return true
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
