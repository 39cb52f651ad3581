import { customInputIn } from './custom-tools'
import { isObject, type JsonObject, toObjects } from './json-body'

/** The names of custom tools for which functions stand. */
export type CustomNames = Pick<ReadonlyMap<string, unknown>, 'has'>

/** A whole chat completion with calls of custom tools in place of those of the functions that stand for them. */
export function withCustomCalls(completion: JsonObject, names: CustomNames): JsonObject {
  const choices = toObjects(completion['choices']).map((choice) => {
    const { message } = choice
    if (!isObject(message) || !Array.isArray(message['tool_calls'])) return choice
    const calls = toObjects(message['tool_calls']).map((call) => toCustomCall(call, names))
    return { ...choice, message: { ...message, tool_calls: calls } }
  })
  return { ...completion, choices }
}

/** The name of a custom tool, if a call is of the function that stands for it. */
function customName(
  { function: calledFunction }: JsonObject,
  names: CustomNames,
): string | undefined {
  const name = isObject(calledFunction) ? calledFunction['name'] : undefined
  return typeof name === 'string' && names.has(name) ? name : undefined
}

function toCustomCall(call: JsonObject, names: CustomNames): JsonObject {
  const name = customName(call, names)
  if (name === undefined) return call
  const { function: calledFunction, ...rest } = call
  const args = isObject(calledFunction) ? calledFunction['arguments'] : undefined
  const input = customInputIn(typeof args === 'string' ? args : '')
  return { ...rest, type: 'custom', custom: { name, input } }
}

/**
 * Turns calls of functions back into calls of custom tools in the chunks of a stream: a call is announced
 * when it begins, and its text, which is inside the arguments of a function, comes in one piece at the end
 * of its choice.
 */
export class CustomCallChunks {
  readonly #names: CustomNames
  /** Index of a choice -> index of a call -> the arguments so far. */
  readonly #open = new Map<unknown, Map<unknown, string>>()

  constructor(names: CustomNames) {
    this.#names = names
  }

  /** The chunks that a chunk becomes, as JSON texts. */
  next(text: string): string[] {
    // Inside of a text it would be escaped.
    if (!text.includes('"tool_calls"') && this.#open.size === 0) return [text]
    const chunk: unknown = JSON.parse(text)
    if (!isObject(chunk)) return [text]
    const [choice] = toObjects(chunk['choices'])
    if (!choice) return [text]
    const { delta, finish_reason: finish, index } = choice
    const write = (changes: JsonObject) =>
      JSON.stringify({ ...chunk, choices: [{ ...choice, ...changes }] })
    if (typeof finish === 'string') {
      const calls = this.#close(index).map((call) =>
        write({ delta: { tool_calls: [call] }, finish_reason: null }),
      )
      return [...calls, text]
    }
    const [call] = isObject(delta) ? toObjects(delta['tool_calls']) : []
    if (!call) return [text]
    const opening = this.#begin(index, call)
    if (opening) return [write({ delta: { ...(isObject(delta) && delta), tool_calls: [opening] } })]
    return this.#addArguments(index, call) ? [] : [text]
  }

  /** The first piece of a call, if it is of a custom tool. */
  #begin(choice: unknown, call: JsonObject): JsonObject | undefined {
    const name = customName(call, this.#names)
    if (name === undefined) return undefined
    const { function: calledFunction, ...rest } = call
    const args = isObject(calledFunction) ? calledFunction['arguments'] : undefined
    let calls = this.#open.get(choice)
    if (!calls) this.#open.set(choice, (calls = new Map()))
    calls.set(call['index'], typeof args === 'string' ? args : '')
    return { ...rest, type: 'custom', custom: { name, input: '' } }
  }

  /** Whether a piece is of a custom tool's call. */
  #addArguments(choice: unknown, { index, function: calledFunction }: JsonObject): boolean {
    const calls = this.#open.get(choice)
    const before = calls?.get(index)
    if (!calls || before === undefined) return false
    const args = isObject(calledFunction) ? calledFunction['arguments'] : undefined
    if (typeof args === 'string') calls.set(index, before + args)
    return true
  }

  #close(choice: unknown): JsonObject[] {
    const calls = [...(this.#open.get(choice) ?? [])]
    this.#open.delete(choice)
    return calls.flatMap(([index, args]) => {
      const input = customInputIn(args)
      return input === '' ? [] : [{ index, custom: { input } }]
    })
  }
}
