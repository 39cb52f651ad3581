import { isCall, toFunctionCall, type ResponsesCall } from './calls'
import type { DrawnItem } from './drawn-item'
import { toForeignContent } from './foreign-content'
import type { Content, ResponsesItem, ResponsesItemOf } from './items'
import type { CallerTool } from './tool-kinds'
import { readThoughts } from './thoughts'
import { invalidRequest } from '../../errors'
import { imageTypeOf } from '../../wire/drawn-images'
import { isObject, type JsonObject } from '../../wire/json-body'
import { unpackSignature } from '../../wire/packed-call-id'
import { ThoughtUnpacker } from '../../wire/reasoning-details'

const maxCalls = 128

type MessageItem = Extract<ResponsesItem, { role: string; content: unknown }>
type Output = ResponsesItemOf<
  | 'function_call_output'
  | 'custom_tool_call_output'
  | 'shell_call_output'
  | 'local_shell_call_output'
  | 'apply_patch_call_output'
  | 'tool_search_output'
>

/** One turn of the model, with the results of its tools. */
interface AssistantTurn {
  /** The answer that its calls are of, as far as their ids show it. */
  answer: string | undefined
  texts: string[]
  thoughts: string[]
  /** Thoughts as their provider needs them back. */
  details: JsonObject[]
  calls: JsonObject[]
  results: JsonObject[]
  /** Content among the results that is not text. */
  media: JsonObject[]
  /** Another id of a call -> its own. */
  aliases: Map<string, string>
}

const isOutput = (item: ResponsesItem): item is Output =>
  item.type === 'tool_search_output' || (item.type?.endsWith('_call_output') ?? false)
const isMessage = (item: ResponsesItem): item is MessageItem =>
  !item.type || item.type === 'message'

/** The part of an item's id that all items of one answer share, behind which their numbers stand. */
const answerOf = (id: unknown): string | undefined =>
  typeof id === 'string' ? /^[a-z]+_(\w+)\d{3}$/.exec(id)?.[1] : undefined

const isSigned = (id: unknown): boolean =>
  typeof id === 'string' && unpackSignature(id) !== undefined

/**
 * Returns whether a call is of the answer that a turn before its results was: by the ids of their items, and without these by a
 * signature, which the first call of an answer has and no other.
 */
function continues(
  { answer: earlier, calls }: AssistantTurn,
  { answer, callId }: { answer: string | undefined; callId: string | null | undefined },
): boolean {
  if (answer !== undefined && earlier !== undefined) return answer === earlier
  return calls.some(({ id }) => isSigned(id)) && !isSigned(callId)
}

/** The function that stands for a tool. */
type NameOf = (tool: CallerTool) => string

/**
 * A history of items as messages. Items of the model that follow each other are one message, and
 * results stand directly behind it, wherever they stood. Throws `invalid_request`, `param` the item.
 */
export class ItemHistory {
  readonly #entries: (AssistantTurn | { message: JsonObject })[] = []
  /** Id of a call -> where it was made. */
  readonly #calledIn = new Map<string, AssistantTurn>()
  readonly #nameOf: NameOf
  readonly #unpacker = new ThoughtUnpacker()
  #current: AssistantTurn | undefined

  constructor(nameOf: NameOf) {
    this.#nameOf = nameOf
  }

  add(item: ResponsesItem, param: string): void {
    if (isCall(item)) this.#call(item)
    else if (isOutput(item)) this.#answer(item, param)
    else if (item.type === 'reasoning') this.#think(item)
    // The results of the search are in the message behind it.
    else if (item.type === 'web_search_call') this.#turn().texts.push(toSearchText(item))
    // All others are no part of the conversation: see `chat.ts`.
    else if (isMessage(item)) this.#addMessage(item, param)
  }

  /** Stands in for an item without counterpart in a message, so that its text and its images are counted. */
  addForeign(item: JsonObject): void {
    this.#current = undefined
    this.#entries.push({ message: { role: 'user', content: toForeignContent(item) } })
  }

  /** A drawn image is shown to the model again: chats have images in messages of users only. */
  addDrawn({ result }: DrawnItem): void {
    this.#current = undefined
    const url = `data:${imageTypeOf(result)};base64,${result}`
    const content = [
      { type: 'text', text: 'The image that was drawn:' },
      { type: 'image_url', image_url: { url } },
    ]
    this.#entries.push({ message: { role: 'user', content } })
  }

  messages(): JsonObject[] {
    return this.#entries.flatMap((entry) =>
      'message' in entry ? [entry.message] : messagesOf(entry),
    )
  }

  #turn(): AssistantTurn {
    if (this.#current) return this.#current
    const turn: AssistantTurn = {
      answer: undefined,
      texts: [],
      thoughts: [],
      details: [],
      calls: [],
      results: [],
      media: [],
      aliases: new Map(),
    }
    this.#entries.push(turn)
    return (this.#current = turn)
  }

  /** The turn of a call; some clients put the results of one answer between its calls. */
  #turnOfCall({ id, call_id: callId }: ResponsesCall): AssistantTurn {
    const answer = answerOf(id)
    const last = this.#entries.at(-1)
    if (!this.#current && last && 'calls' in last && continues(last, { answer, callId })) {
      this.#current = last
    }
    const turn = this.#turn()
    turn.answer ??= answer
    return turn
  }

  #think(item: JsonObject): void {
    const { text, details } = readThoughts(item, this.#unpacker)
    const turn = this.#turn()
    if (text !== '') turn.thoughts.push(text)
    turn.details.push(...details)
  }

  #addMessage({ role, content }: MessageItem, param: string): void {
    if (role === 'assistant') {
      const texts = typeof content === 'string' ? [content] : content.map(textIn(param))
      this.#turn().texts.push(texts.join(''))
      return
    }
    this.#current = undefined
    this.#entries.push({ message: { role, content: toContent(content) } })
  }

  #call(item: ResponsesCall): void {
    const id = item.call_id
    // A call that OpenAI made and answered itself: its tools are there from the beginning.
    if (!id) return
    const turn = this.#turnOfCall(item)
    if (turn.calls.length >= maxCalls) {
      throw invalidRequest('input', 'too_many', `input: more than ${maxCalls} parallel calls.`)
    }
    const { tool, arguments: args } = toFunctionCall(item)
    const calledFunction = { name: this.#nameOf(tool), arguments: args }
    turn.calls.push({ id, type: 'function', function: calledFunction })
    this.#calledIn.set(id, turn)
    if (item.type === 'local_shell_call' && typeof item['id'] === 'string') {
      // Its output names it by this id.
      this.#calledIn.set(item['id'], turn)
      turn.aliases.set(item['id'], id)
    }
  }

  #answer(item: Output, param: string): void {
    const callId = item.call_id ?? (item.type === 'local_shell_call_output' ? item.id : undefined)
    if (item.type === 'tool_search_output' && !callId) return
    const turn = callId ? this.#calledIn.get(callId) : undefined
    if (!turn || !callId) {
      const field = `${param}.call_id`
      throw invalidRequest(field, 'unknown_value', `${field}: no earlier item has this call.`)
    }
    if (turn === this.#current) this.#current = undefined
    const id = turn.aliases.get(callId) ?? callId
    const { text, media } = resultOf(item)
    // Most providers take nothing but text as a result, and anything as a user's message.
    const note = { type: 'text', text: `Part of the result of the call ${id}:` }
    if (media.length > 0) turn.media.push({ role: 'user', content: [note, ...media] })
    turn.results.push({ role: 'tool', tool_call_id: id, content: text })
  }
}

interface Result {
  text: string
  /** Content that is not text. */
  media: JsonObject[]
}

function resultOf(item: Output): Result {
  switch (item.type) {
    case 'shell_call_output':
      return { text: JSON.stringify(item.output), media: [] }
    case 'apply_patch_call_output':
      return {
        text: [item.status ?? 'completed', item.output].filter(Boolean).join('\n'),
        media: [],
      }
    case 'tool_search_output':
      return { text: JSON.stringify({ found: item.tools.map(({ name }) => name) }), media: [] }
    default:
      return typeof item.output === 'string'
        ? { text: item.output, media: [] }
        : toResult(item.output.map(toPart))
  }
}

function toResult(parts: readonly JsonObject[]): Result {
  const media = parts.filter(({ type }) => type !== 'text')
  const texts = parts.filter(({ type }) => type === 'text')
  return { text: textOf(texts, media.length > 0), media }
}

function toSearchText({ action }: JsonObject): string {
  const query = isObject(action) ? action['query'] : undefined
  return typeof query === 'string' ? `(Searched the web for: ${query})` : '(Searched the web)'
}

function textOf(parts: readonly JsonObject[], isElsewhere: boolean): string {
  if (parts.length > 0) return parts.map(({ text }) => String(text)).join('\n')
  return isElsewhere ? 'The result is in the next message.' : ''
}

/** A turn that was nothing but thoughts is none. */
function messagesOf(turn: AssistantTurn): JsonObject[] {
  const { texts, thoughts, details, calls, results, media } = turn
  if (texts.length === 0 && calls.length === 0) return []
  const message = {
    role: 'assistant',
    content: texts.length > 0 ? texts.join('\n\n') : null,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join('\n\n') }),
    ...(details.length > 0 && { reasoning_details: details }),
  }
  return [message, ...results, ...media]
}

const textIn = (param: string) => (part: Content, index: number) => {
  if ('text' in part && typeof part.text === 'string') return part.text
  if (part.type === 'refusal') return part.refusal
  const field = `${param}.content.${index}.type`
  throw invalidRequest(field, 'not_allowed', `${field}: an assistant message can only have text.`)
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
      const fileContent = file_data ? { file_data } : { file_id }
      return { type: 'file', file: { ...fileContent, ...(filename && { filename }) } }
    }
    case 'input_audio':
      return { type: 'input_audio', input_audio: part.input_audio }
    case 'refusal':
      return { type: 'text', text: part.refusal }
    default:
      return { type: 'text', text: part.text }
  }
}
