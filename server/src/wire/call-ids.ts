import { toObjects, type JsonObject } from './json-body'
import { unpackCallId } from './packed-call-id'

/** Between a provider's id and the number that tells it from an earlier one. */
const separator = '__repeat__'
const suffix = /(.)__repeat__\d{1,6}$/s

/** The id that a provider gave a call, without what Tollgate added to it. */
export const toProviderCallId = (id: string): string => unpackCallId(id).replace(suffix, '$1')

/** Makes ids for calls whose provider gave none; knows those of the conversation so far. */
export interface CallIdSource {
  newCallId: () => string
  /** The ids of the conversation's calls, without packed data; absent where there are none. */
  pastCallIds?: (() => ReadonlySet<string>) | undefined
}

/**
 * The ids of an answer's calls, each unique in its conversation: some providers count calls anew in each answer,
 * and a client takes a repeated id for a call that it has answered already.
 */
export class CallIds {
  readonly #source: CallIdSource
  readonly #givenIds = new Set<string>()
  /** An id that was repeated -> the number of its next repetition: not counted anew for each of thousands. */
  readonly #numbers = new Map<string, number>()
  #past: ReadonlySet<string> | undefined

  constructor(source: CallIdSource) {
    this.#source = source
  }

  /** The client's id of a call with this id of its provider's. */
  next(id: string): string {
    if (id === '') return this.#source.newCallId()
    const bare = unpackCallId(id)
    let unique = bare
    let number = this.#numbers.get(bare) ?? 2
    for (; this.#isTaken(unique); number++) unique = `${bare}${separator}${number}`
    if (unique !== bare) this.#numbers.set(bare, number)
    this.#givenIds.add(unique)
    return unique + id.slice(bare.length)
  }

  #isTaken(id: string): boolean {
    this.#past ??= this.#source.pastCallIds?.() ?? new Set()
    return this.#givenIds.has(id) || this.#past.has(id)
  }
}

/** The ids of the calls in a chat request's history, without packed data. */
export function callIdsIn({ messages }: JsonObject): Set<string> {
  const ids = new Set<string>()
  for (const message of toObjects(messages)) {
    for (const { id } of toObjects(message['tool_calls'])) {
      if (typeof id === 'string') ids.add(unpackCallId(id))
    }
  }
  return ids
}
