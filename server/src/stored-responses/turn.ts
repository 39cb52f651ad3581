import type { ResponseStore } from './store'
import { isObject, type JsonObject } from '../wire/json-body'

/** Which answers are kept: all but those whose request says no, those whose request says so, none. */
export type StoringMode = 'always' | 'asked' | 'never'

interface ReadRequest {
  body: JsonObject
  bytes: number
}

/** One request for a Response: what it goes on from, and whether its answer is kept. */
export class StoredTurn {
  readonly #store: ResponseStore
  readonly #mode: StoringMode
  /** The id that its answer has, if it is ours. */
  readonly #id: string
  #userId = ''
  #input: readonly JsonObject[] = []
  #previousId: string | null = null
  #isKept = false

  constructor(store: ResponseStore, mode: StoringMode, requestId: string) {
    this.#store = store
    this.#mode = mode
    this.#id = `resp_${requestId.slice(requestId.indexOf('_') + 1)}`
  }

  /** Something is to be said of keeping. */
  get hasPart(): boolean {
    return this.#isKept || this.#previousId !== null
  }

  /** How long what is read for `expand` is; 0 where the request goes on from nothing. */
  unreadBytes(userId: string, { previous_response_id: previous }: JsonObject) {
    return typeof previous === 'string' && previous !== ''
      ? this.#store.chainBytes(userId, previous)
      : 0
  }

  /**
   * The request with all that it goes on from in its input. One that goes on from what the account does not
   * have here stays as it is: its provider may have it.
   */
  expand(userId: string, read: ReadRequest): ReadRequest | Promise<ReadRequest> {
    const { store, previous_response_id: previous } = read.body
    this.#userId = userId
    this.#isKept =
      this.#mode === 'always' ? store !== false : this.#mode === 'asked' && store === true
    if (this.#isKept) this.#input = itemsOf(read.body['input'])
    if (typeof previous !== 'string' || previous === '' || this.#mode === 'never') {
      return this.#asKept(read)
    }
    return this.#goOnFrom(previous, read)
  }

  async #goOnFrom(previous: string, read: ReadRequest): Promise<ReadRequest> {
    const chain = await this.#store.chain(this.#userId, previous)
    if (!chain) {
      // The provider that may have the one before has this one, too.
      this.#isKept = false
      return read
    }
    this.#previousId = previous
    const { previous_response_id: _previous, input, ...rest } = read.body
    const earlier = chain.flatMap((one) => [...one.input, ...itemsOf(one.response['output'])])
    const bytes = read.bytes + Buffer.byteLength(JSON.stringify(earlier))
    return this.#asKept({ body: { ...rest, input: [...earlier, ...itemsOf(input)] }, bytes })
  }

  /** With `store`, an answer has the thoughts that the next request has to bring back. */
  #asKept(read: ReadRequest): ReadRequest {
    if (!this.#isKept || read.body['store'] === true) return read
    return { ...read, body: { ...read.body, store: true } }
  }

  /** An answer as its caller gets it: with what is said of its keeping, where that is ours to say. */
  told(response: JsonObject): JsonObject {
    if (response['id'] !== this.#id) return response
    return { ...response, store: this.#isKept, previous_response_id: this.#previousId }
  }

  /** Keeps a whole answer that was told, where that is asked for. */
  keep(response: JsonObject): void {
    const { id, status } = response
    if (!this.#isKept || id !== this.#id) return
    if (status !== 'completed' && status !== 'incomplete') return
    this.#store.save({
      id: this.#id,
      userId: this.#userId,
      previousId: this.#previousId,
      input: this.#input,
      response,
    })
  }
}

/** Items of an input or an output; a text is what a user says. */
const itemsOf = (value: unknown): JsonObject[] => {
  if (typeof value === 'string') return [{ type: 'message', role: 'user', content: value }]
  return Array.isArray(value) ? value.filter(isObject) : []
}
