import { isObject, type JsonObject, toObjects, toText } from './json-body'

/** One choice as collected so far. */
interface Choice {
  index: number
  message: JsonObject
  calls: Map<number, JsonObject>
  logprobs: JsonObject | null
  /** Fields beside the delta; the last value counts. */
  rest: JsonObject
  finish: unknown
}

/**
 * Collects the chunks of a chat stream into the whole answer that they stand for. The chunks are
 * those of a relayed stream: in order, with indexes, one tool call each.
 */
export class CollectedChat {
  readonly #choices = new Map<number, Choice>()
  #head: JsonObject = {}
  #usage: unknown

  add(chunk: JsonObject): void {
    const { choices, usage, ...head } = chunk
    this.#head = { ...this.#head, ...head }
    if (isObject(usage)) this.#usage = usage
    for (const choice of toObjects(choices)) {
      this.#addChoice(choice)
    }
  }

  /** The answer, choices in their order. */
  complete(): JsonObject {
    const choices = [...this.#choices.values()]
      .toSorted((a, b) => a.index - b.index)
      .map(({ index, message, calls, logprobs, rest, finish }) => ({
        ...rest,
        index,
        message: calls.size > 0 ? { ...message, tool_calls: [...calls.values()] } : message,
        logprobs,
        finish_reason: finish,
      }))
    const usage = this.#usage === undefined ? {} : { usage: this.#usage }
    return { ...this.#head, object: 'chat.completion', choices, ...usage }
  }

  #addChoice({ index, delta, logprobs, finish_reason: finish, ...rest }: JsonObject): void {
    const choice = this.#choiceAt(Number.isInteger(index) ? Number(index) : 0)
    Object.assign(choice.rest, rest)
    if (typeof finish === 'string') choice.finish = finish
    if (isObject(logprobs)) choice.logprobs = joinLogprobs(choice.logprobs, logprobs)
    if (!isObject(delta)) return
    for (const [name, value] of Object.entries(delta)) {
      if (name === 'tool_calls') addCalls(choice.calls, value)
      else choice.message[name] = appendValue(name, choice.message[name], value)
    }
  }

  #choiceAt(index: number): Choice {
    let choice = this.#choices.get(index)
    if (!choice) {
      const message = { role: 'assistant', content: null, refusal: null }
      choice = { index, message, calls: new Map(), logprobs: null, rest: {}, finish: null }
      this.#choices.set(index, choice)
    }
    return choice
  }
}

/** Texts grow, lists grow, of anything else the last word counts. */
function appendValue(name: string, before: unknown, piece: unknown): unknown {
  // The first chunk has an empty text, which adds nothing.
  if (name === 'role' || piece === null || piece === undefined) return before ?? piece
  if (piece === '') return before ?? null
  if (typeof piece === 'string') return toText(before) + piece
  if (Array.isArray(piece)) return [...(Array.isArray(before) ? before : []), ...piece]
  if (!isObject(piece) || !isObject(before)) return piece
  return name === 'audio' ? joinSound(before, piece) : { ...before, ...piece }
}

/** Sound comes in pieces of its bytes, and of its words. */
function joinSound(before: JsonObject, piece: JsonObject): JsonObject {
  const data = joinBase64(toText(before['data']), toText(piece['data']))
  const transcript = toText(before['transcript']) + toText(piece['transcript'])
  return { ...before, ...piece, data, transcript }
}

/** Joins base64 whose first part may be padded: then its last bytes are written anew, and no others. */
function joinBase64(before: string, piece: string): string {
  if (!before.endsWith('=')) return before + piece
  const bytes = [before.slice(-4), piece].map((text) => Buffer.from(text, 'base64'))
  return before.slice(0, -4) + Buffer.concat(bytes).toString('base64')
}

function addCalls(calls: Map<number, JsonObject>, deltas: unknown): void {
  for (const delta of toObjects(deltas)) {
    const { index, function: calledFunction, custom, ...rest } = delta
    const [kind, field] = custom
      ? (['custom', 'input'] as const)
      : (['function', 'arguments'] as const)
    const fragment = custom ?? calledFunction
    const piece = isObject(fragment) ? fragment : {}
    const call = calls.get(Number(index)) ?? {}
    const before = isObject(call[kind]) ? call[kind] : {}
    const text = toText(before[field]) + toText(piece[field])
    calls.set(Number(index), { ...call, ...rest, [kind]: { ...before, ...piece, [field]: text } })
  }
}

/** Log probabilities come token by token, of the content and of a refusal. */
function joinLogprobs(before: JsonObject | null, piece: JsonObject): JsonObject {
  const sum: JsonObject = { ...before }
  for (const [name, tokens] of Object.entries(piece))
    sum[name] = appendValue(name, sum[name], tokens)
  return sum
}
