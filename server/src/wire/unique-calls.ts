import { CallIds, callIdsIn } from './call-ids'
import { isObject, type JsonObject } from './json-body'
import { unpackCallId } from './packed-call-id'

/**
 * The messages of a chat with ids that no two calls share, each result with the id of its call: dialects other than
 * OpenAI's refuse a repeated one. The same array where none repeats.
 */
export function withUniqueCalls(messages: readonly unknown[]): readonly unknown[] {
  let count = 0
  for (const message of messages) {
    if (isObject(message) && Array.isArray(message['tool_calls']))
      count += message['tool_calls'].length
  }
  if (count < 2 || callIdsIn({ messages }).size === count) return messages
  const renaming = new Renaming()
  return messages.map((message) => (isObject(message) ? renaming.next(message) : message))
}

/** The calls of a history so far, by the ids that they had. */
class Renaming {
  readonly #ids = new CallIds({ newCallId: () => '' })
  /** The new id of the latest call, and those of calls that have no result yet. */
  readonly #latest = new Map<string, string>()
  readonly #unanswered = new Map<string, string[]>()
  #isAnswering = false

  next(message: JsonObject): JsonObject {
    const isAnswer = message['role'] === 'assistant'
    // Results that a later turn has are of its own calls.
    if (isAnswer && !this.#isAnswering) this.#unanswered.clear()
    this.#isAnswering = isAnswer
    const { tool_call_id: answered, tool_calls: calls } = message
    if (isAnswer && Array.isArray(calls)) {
      return { ...message, tool_calls: calls.map((call: unknown) => this.#call(call)) }
    }
    return typeof answered === 'string'
      ? { ...message, tool_call_id: this.#answer(answered) }
      : message
  }

  #call(call: unknown): unknown {
    if (!isObject(call) || typeof call['id'] !== 'string') return call
    const bare = unpackCallId(call['id'])
    const id = this.#ids.next(call['id'])
    this.#latest.set(bare, id)
    const unanswered = this.#unanswered.get(bare)
    if (unanswered) unanswered.push(id)
    else this.#unanswered.set(bare, [id])
    return { ...call, id }
  }

  #answer(answered: string): string {
    const bare = unpackCallId(answered)
    return this.#unanswered.get(bare)?.shift() ?? this.#latest.get(bare) ?? answered
  }
}
