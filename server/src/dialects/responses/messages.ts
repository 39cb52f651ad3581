import type { Content, Item } from './items'
import { toFreeArguments } from './tools'
import { thoughtsIn } from './thoughts'
import { invalidRequest } from '../../errors'
import type { JsonObject } from '../../wire/json-body'

const mostCalls = 128

type Call = Extract<Item, { type: 'function_call' | 'custom_tool_call' }>
type Output = Extract<Item, { type: 'function_call_output' | 'custom_tool_call_output' }>
type Said = Exclude<Item, Call | Output | { type: 'reasoning' | 'item_reference' }>

/** What the model did in one go, and what its tools gave back. */
interface Turn {
  texts: string[]
  thoughts: JsonObject[]
  calls: JsonObject[]
  results: JsonObject[]
  /** What is no text among the results. */
  shown: JsonObject[]
}

/**
 * A history of items as messages. Items of the model that follow each other are one message, and
 * results stand directly behind it, wherever they stood. Throws `invalid_request`, `param` the item.
 */
export class History {
  readonly #entries: (Turn | { message: JsonObject })[] = []
  /** Id of a call -> where it was made. */
  readonly #calledIn = new Map<string, Turn>()
  #current: Turn | undefined

  add(item: Item, param: string): void {
    switch (item.type) {
      case 'function_call':
      case 'custom_tool_call':
        return this.#call(item)
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.#answer(item, param)
      case 'reasoning':
        this.#turn().thoughts.push(...thoughtsIn(item))
        return
      case 'item_reference':
        // Refused where it was read.
        return
      default:
        return this.#say(item, param)
    }
  }

  messages(): JsonObject[] {
    const messages = this.#entries.flatMap((entry) =>
      'message' in entry ? [entry.message] : told(entry),
    )
    if (messages.length === 0)
      throw invalidRequest('input', 'empty', 'input: nothing is said in it.')
    return messages
  }

  #turn(): Turn {
    if (this.#current) return this.#current
    const turn = { texts: [], thoughts: [], calls: [], results: [], shown: [] }
    this.#entries.push(turn)
    return (this.#current = turn)
  }

  #say({ role, content }: Said, param: string): void {
    if (role === 'assistant') {
      const texts = typeof content === 'string' ? [content] : content.map(wordsIn(param))
      this.#turn().texts.push(texts.join(''))
      return
    }
    this.#current = undefined
    this.#entries.push({ message: { role, content: toContent(content) } })
  }

  #call(item: Call): void {
    const turn = this.#turn()
    if (turn.calls.length >= mostCalls) {
      throw invalidRequest('input', 'too_many', `input: more than ${mostCalls} calls at once.`)
    }
    const args = item.type === 'custom_tool_call' ? toFreeArguments(item.input) : item.arguments
    const called = { name: item.name, arguments: args }
    turn.calls.push({ id: item.call_id, type: 'function', function: called })
    this.#calledIn.set(item.call_id, turn)
  }

  #answer({ call_id: id, output }: Output, param: string): void {
    const turn = this.#calledIn.get(id)
    if (!turn) {
      const field = `${param}.call_id`
      throw invalidRequest(field, 'unknown_value', `${field}: no item before it makes this call.`)
    }
    if (turn === this.#current) this.#current = undefined
    const parts = typeof output === 'string' ? [] : output.map(toPart)
    const shown = parts.filter(({ type }) => type !== 'text')
    const texts = parts.filter(({ type }) => type === 'text')
    // Most providers take nothing but text as a result, and anything as a user's message.
    const note = { type: 'text', text: `Part of the result of the call ${id}:` }
    if (shown.length > 0) turn.shown.push({ role: 'user', content: [note, ...shown] })
    const told = typeof output === 'string' ? output : textOf(texts, shown.length > 0)
    turn.results.push({ role: 'tool', tool_call_id: id, content: told })
  }
}

function textOf(parts: readonly JsonObject[], isElsewhere: boolean): string {
  if (parts.length > 0) return parts.map(({ text }) => String(text)).join('\n')
  return isElsewhere ? 'The result is in the next message.' : ''
}

/** A turn that was nothing but thoughts that only their maker can read is none. */
function told({ texts, thoughts, calls, results, shown }: Turn): JsonObject[] {
  if (texts.length === 0 && calls.length === 0) return []
  const message = {
    role: 'assistant',
    content: texts.length > 0 ? texts.join('\n\n') : null,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(thoughts.length > 0 && { reasoning_details: thoughts }),
  }
  return [message, ...results, ...shown]
}

const wordsIn = (param: string) => (part: Content, index: number) => {
  if ('text' in part && typeof part.text === 'string') return part.text
  if (part.type === 'refusal') return part.refusal
  const field = `${param}.content.${index}.type`
  throw invalidRequest(field, 'not_allowed', `${field}: a model's own message is text.`)
}

function toContent(content: string | Content[]): unknown {
  if (typeof content === 'string') return content
  const parts = content.map(toPart)
  const [only] = parts
  if (!only) return ''
  return parts.length === 1 && only['type'] === 'text' ? only['text'] : parts
}

function toPart(part: Content): JsonObject {
  switch (part.type) {
    case 'input_image': {
      const detail = part.detail === 'original' ? 'high' : part.detail
      return { type: 'image_url', image_url: { url: part.image_url, ...(detail && { detail }) } }
    }
    case 'input_file': {
      const { file_data, file_id, filename } = part
      const held = file_data ? { file_data } : { file_id }
      return { type: 'file', file: { ...held, ...(filename && { filename }) } }
    }
    case 'input_audio':
      return { type: 'input_audio', input_audio: part.input_audio }
    case 'refusal':
      return { type: 'text', text: part.refusal }
    default:
      return { type: 'text', text: part.text }
  }
}
