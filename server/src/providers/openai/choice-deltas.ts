import { ToolCallDeltas } from './tool-calls'
import { toFinishReason, type FinishReason } from '../../wire/finish-reason'
import { isObject, type JsonObject } from '../../wire/json-body'
import type { TextSize } from '../../wire/text-size'

/** One chunk's contribution to one choice. `failed`: its finish reason is the provider's for failure. */
export interface ChoiceStep {
  deltas: JsonObject[]
  finish: FinishReason | null
  failed: boolean
}

interface ChoiceOptions {
  newCallId: () => string
  /** Name of a tool at the provider -> name that the caller gave it, where they differ. */
  callerNames?: ReadonlyMap<string, string> | undefined
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
  readonly #calls: ToolCallDeltas
  #hasRole = false
  finished = false
  /** The provider sent the citations of the choice itself. */
  hasAnnotations = false

  constructor(options: ChoiceOptions) {
    this.#options = options
    this.#calls = new ToolCallDeltas(options)
  }

  /** Returns whether a provider's choice is a piece of text and nothing else; then it needs no other form. */
  isPlain(theirs: JsonObject): boolean {
    const { delta, finish_reason: finish, error } = theirs
    if (!this.#hasRole || finish || error !== undefined || !isObject(delta)) return false
    const { content } = delta
    if (typeof content !== 'string' || content === '') return false
    for (const name in delta) if (name !== 'content') return false
    this.#measure(content)
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

    const reason = toFinishReason(providerReason, this.#calls.any)
    if (!reason || theirs['native_finish_reason'] === 'error') {
      return { deltas, finish: null, failed: true }
    }
    this.finished = true
    deltas.push(...this.#openRole(), ...this.#write(this.#calls.close()))
    const isLegacy = reason === 'tool_calls' && this.#options.legacyFunctions
    return { deltas, finish: isLegacy ? 'function_call' : reason, failed: false }
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
    if (!Array.isArray(entries)) return []
    const calls = entries.filter(isObject).flatMap((entry) => this.#calls.next(entry))
    for (const { function: called, custom } of calls) {
      const contentFields = called ?? custom
      if (!isObject(contentFields)) continue
      const { name } = contentFields
      if (typeof name === 'string') this.#options.size.addCall(name)
      this.#measure(contentFields['arguments'] ?? contentFields['input'])
    }
    return this.#write(calls)
  }

  #write(calls: readonly JsonObject[]): JsonObject[] {
    if (!this.#options.legacyFunctions) return calls.map((call) => ({ tool_calls: [call] }))
    // The older form has room for one call; a second would run into the first.
    const first = calls.filter(({ index }) => index === 0)
    return first.map((call) => ({ function_call: call['function'] }))
  }

  /** Ends a choice that is not paid for any further: `length`, with tool calls too, as they broke off. */
  cut(): JsonObject[] {
    this.finished = true
    return this.#openRole()
  }

  #measure(text: unknown): void {
    if (typeof text === 'string') this.#options.size.add(text)
  }
}

/** Returns text, reasoning and all other fields of a delta, without the empty ones. */
function contentOf(delta: JsonObject): JsonObject {
  const contentFields: JsonObject = {}
  for (const name in delta) {
    const value = delta[name]
    if (!deltaFields.has(name) && value !== null && value !== '') contentFields[name] = value
  }
  const text = readText(delta['content'])
  const reasoning =
    delta['reasoning_content'] ?? delta['reasoning'] ?? readThought(delta['content'])
  if (typeof reasoning === 'string' && reasoning !== '')
    contentFields['reasoning_content'] = reasoning
  if (text !== '') contentFields['content'] = text
  return contentFields
}

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
