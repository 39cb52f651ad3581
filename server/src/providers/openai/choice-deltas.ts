import { ToolCallDeltas } from './tool-calls'
import { toFinishReason, type FinishReason } from '../../wire/finish-reason'
import { isObject, type JsonObject } from '../../wire/json-body'
import { measureCalls, toMessageDeltas, type CallNaming } from '../../wire/outgoing-calls'
import type { TextSize } from '../../wire/text-size'

/** One chunk's contribution to one choice. `failed`: its finish reason is the provider's for failure. */
export interface ChoiceStep {
  deltas: JsonObject[]
  finish: FinishReason | null
  failed: boolean
}

interface ChoiceOptions {
  naming: CallNaming
  /** The caller sent `functions`, the older form of tools, and gets the older answer. */
  legacyFunctions: boolean
  size: TextSize
}

/** Fields that are billed as output; a delta may repeat parts of them in fields of its own. */
const writtenFields: ReadonlySet<string> = new Set(['content', 'reasoning_content', 'refusal'])

const deltaFields = new Set(['role', 'tool_calls', 'content', 'reasoning', 'reasoning_content'])

/** One choice of a stream, brought into the order that every client reads. Source: contract 4.3. */
export class ChoiceDeltas {
  readonly #options: ChoiceOptions
  /** Most choices have no calls. */
  #calls: ToolCallDeltas | undefined
  #hasRole = false
  finished = false
  /** The provider sent the citations of the choice itself. */
  hasAnnotations = false

  constructor(options: ChoiceOptions) {
    this.#options = options
  }

  /** Whether a call has arguments and no name. */
  get hasUnnamedCall(): boolean {
    return this.#calls?.hasUnnamed === true
  }

  /** Returns whether a provider's choice is a piece of text and nothing else; then it needs no other form. */
  isPlain(theirs: JsonObject): boolean {
    const { delta, finish_reason: finish, error } = theirs
    if (!this.#hasRole || finish || error !== undefined || !isObject(delta)) return false
    const { content } = delta
    if (typeof content !== 'string' || content === '') return false
    for (const name in delta) if (name !== 'content') return false
    this.#options.size.add(content)
    return true
  }

  /** The deltas that a provider's choice becomes, and how it finished, if it did. */
  next(theirs: JsonObject): ChoiceStep {
    const delta = isObject(theirs['delta']) ? theirs['delta'] : {}
    const body = [...this.#contentFields(delta), ...this.#toCalls(delta)]
    const deltas = body.length > 0 || 'role' in delta ? [...this.#openRole(), ...body] : []
    const providerReason = theirs['finish_reason']
    if (typeof providerReason !== 'string' || providerReason === '')
      return { deltas, finish: null, failed: false }

    const reason = toFinishReason(providerReason, this.#calls?.any === true)
    if (!reason || theirs['native_finish_reason'] === 'error') {
      return { deltas, finish: null, failed: true }
    }
    return this.#finish(reason, deltas)
  }

  #finish(reason: FinishReason, deltas: JsonObject[]): ChoiceStep {
    this.finished = true
    const ended = this.#calls?.end(reason)
    deltas.push(...this.#openRole(), ...toMessageDeltas(ended?.deltas ?? [], this.#options))
    const finish = ended?.reason ?? reason
    const isLegacy = finish === 'tool_calls' && this.#options.legacyFunctions
    return { deltas, finish: isLegacy ? 'function_call' : finish, failed: false }
  }

  /** The role is sent once, alone, before anything else of its choice. */
  #openRole(): JsonObject[] {
    if (this.#hasRole) return []
    this.#hasRole = true
    return [{ role: 'assistant', content: '' }]
  }

  #contentFields(delta: JsonObject): JsonObject[] {
    const contentFields = contentOf(delta)
    let hasContent = false
    for (const name in contentFields) {
      hasContent = true
      if (name === 'annotations') this.hasAnnotations = true
      const value = contentFields[name]
      if (typeof value === 'string' && writtenFields.has(name)) this.#options.size.add(value)
      else this.#options.size.addOther(value)
    }
    return hasContent ? [contentFields] : []
  }

  #toCalls(delta: JsonObject): JsonObject[] {
    const entries = delta['tool_calls']
    if (!Array.isArray(entries) || entries.length === 0) return []
    const { naming, size } = this.#options
    const deltas = (this.#calls ??= new ToolCallDeltas(naming))
    const calls = entries.filter(isObject).flatMap((entry) => deltas.next(entry))
    measureCalls(size, calls)
    return toMessageDeltas(calls, this.#options)
  }

  /** Ends a choice that is not paid for any further: `length`, with tool calls too, as they broke off. */
  cut(): JsonObject[] {
    this.finished = true
    return this.#openRole()
  }
}

/** Returns text, reasoning and all other fields of a delta, without the empty ones. */
function contentOf(delta: JsonObject): JsonObject {
  const contentFields: JsonObject = {}
  for (const name in delta) {
    const value = delta[name]
    if (deltaFields.has(name) || value === null || value === '') continue
    if (name !== 'function_call' || !isEmptyCall(value)) contentFields[name] = value
  }
  const text = readText(delta['content'])
  const reasoning =
    delta['reasoning_content'] ?? delta['reasoning'] ?? readThought(delta['content'])
  if (typeof reasoning === 'string' && reasoning !== '')
    contentFields['reasoning_content'] = reasoning
  if (text !== '') contentFields['content'] = text
  return contentFields
}

/** Whether a call of the older form is none: some services write all fields of an answer, empty ones too. */
export const isEmptyCall = (call: unknown): boolean =>
  isObject(call) && !call['name'] && !call['arguments']

/** Reads the text of a string, or of parts of text and thinking as Mistral's reasoning models send them. */
export function readText(content: unknown): string {
  if (typeof content === 'string') return content
  let text = ''
  for (const part of partsOf(content)) {
    if (part['type'] !== 'thinking' && typeof part['text'] === 'string') text += part['text']
  }
  return text
}

/** Reads the thoughts in such parts. */
export function readThought(content: unknown): string {
  let thought = ''
  for (const part of partsOf(content)) {
    if (part['type'] === 'thinking') thought += readText(part['thinking'])
  }
  return thought
}

const noParts: readonly JsonObject[] = []

const partsOf = (content: unknown): readonly JsonObject[] =>
  Array.isArray(content) ? content.filter(isObject) : noParts
