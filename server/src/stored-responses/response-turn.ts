import type { BackgroundStore } from './background-store'
import type { History } from './conversation-reading'
import type { StoredConversations } from './conversations'
import type { ResponseStore } from './store'
import { historyShape, weigh, yieldToLoop, type Pause } from './stored-json'
import { invalidRequest } from '../errors'
import { isObject, type JsonObject, toObjects, type ReadBody } from '../wire/json-body'
import { withTimeout } from '../platform/with-timeout'

/** Which responses are stored: all unless the request opts out, those that opt in, or none. */
export type StoringMode = 'always' | 'asked' | 'never'

/** The stores of responses and conversations, and the mode of storing. */
export interface ResponseKeeping {
  store: ResponseStore
  conversations: StoredConversations
  background: BackgroundStore
  mode: StoringMode
}

/** A response waits at most this long for its conversation to be stored. */
const maxWriteMs = 2000

/** One Responses request: the history that it continues, and whether its response is stored. */
export class StoredTurn {
  readonly #storage: ResponseKeeping
  /** The id of its response, if Tollgate assigns it. */
  readonly #id: string
  #userId = ''
  #input: readonly JsonObject[] = []
  #previousId: string | null = null
  #conversationId: string | null = null
  #isStored = false
  #isBackground = false
  #latest: JsonObject | undefined
  /** The provider stores nothing: reasoning without its content is of no use later. */
  #isUnstored = false
  #write: Promise<void> | undefined

  constructor(storage: ResponseKeeping, requestId: string) {
    this.#storage = storage
    this.#id = `resp_${requestId.slice(requestId.indexOf('_') + 1)}`
  }

  get id(): string {
    return this.#id
  }

  get isBackground(): boolean {
    return this.#isBackground
  }

  /** The response that this one continues, and the request's own input. */
  get request(): { previousId: string | null; input: readonly JsonObject[] } {
    return { previousId: this.#previousId, input: this.#input }
  }

  /** The last version of the whole response that was sent. */
  get latest(): JsonObject | undefined {
    return this.#latest
  }

  /** Whether the response needs storage fields. */
  get hasStorageFields(): boolean {
    return this.#isStored || this.#previousId !== null || this.#conversationId !== null
  }

  /** Set while data that the next request may need is being written. */
  get pendingWrite(): Promise<void> | undefined {
    return this.#write
  }

  /** Returns the bytes that `expand` reads; 0 where the request continues nothing that is stored here. */
  unreadBytes(userId: string, { previous_response_id: previous, conversation }: JsonObject) {
    const { store, conversations, mode } = this.#storage
    if (mode === 'never') return 0
    const conversationId = idOf(conversation)
    if (conversationId !== undefined) return conversations.bytes(userId, conversationId)
    return typeof previous === 'string' && previous !== '' ? store.chainBytes(userId, previous) : 0
  }

  /**
   * Expands the request's input by the history that it continues. A request with a history unknown to this account
   * stays unchanged: its provider may have it. `pause` is that of `parseStored`. Throws `invalid_request`.
   */
  expand(userId: string, read: ReadBody, pause: Pause = yieldToLoop): ReadBody | Promise<ReadBody> {
    const { store, previous_response_id: previous, conversation } = read.body
    const { mode } = this.#storage
    this.#userId = userId
    this.#isStored = mode === 'always' ? store !== false : mode === 'asked' && store === true
    if (this.#isBackground) this.#isStored = true
    const conversationId = idOf(conversation)
    if (this.#isStored || conversationId !== undefined) this.#input = itemsOf(read.body['input'])
    if (mode === 'never') return read
    const hasPrevious = typeof previous === 'string' && previous !== ''
    if (conversationId !== undefined) {
      if (hasPrevious) throw conflictingHistory()
      return this.#continueConversation(conversationId, read, pause)
    }
    return hasPrevious ? this.#continueFrom(previous, read, pause) : this.#withStore(read)
  }

  /**
   * Expands a request that is answered in the background: as a stream, which is collected. Its response is always
   * stored here, on every connection. Rejects with `invalid_request`.
   */
  async expandInBackground(userId: string, read: ReadBody, pause?: Pause): Promise<ReadBody> {
    const { background: _background, ...body } = read.body
    if (this.#storage.mode === 'never') throw storageDisabled()
    if (body['store'] === false) throw notStored()
    this.#isBackground = true
    const streamed = { ...read, body: { ...body, stream: true } }
    const expanded = await this.expand(userId, streamed, pause)
    for (const field of ['previous_response_id', 'conversation']) {
      if (expanded.body[field]) throw unknownHistory(field)
    }
    return expanded
  }

  async #continueFrom(previous: string, read: ReadBody, pause: Pause): Promise<ReadBody> {
    const chain = await this.#storage.store.chain(this.#userId, previous, pause)
    assertEnded(chain?.at(-1)?.response['status'])
    if (!chain) {
      // The provider that may have the previous response stores this one, too.
      this.#isStored = false
      return read
    }
    this.#previousId = previous
    const { previous_response_id: _previous, ...body } = read.body
    const items = chain.flatMap((one) => [...one.input, ...itemsOf(one.response['output'])])
    assertLight(items)
    const bytes = Buffer.byteLength(JSON.stringify(items))
    return this.#withStore(prependHistory({ items, bytes }, { ...read, body }))
  }

  async #continueConversation(id: string, read: ReadBody, pause: Pause): Promise<ReadBody> {
    const { conversations } = this.#storage
    const owned = { userId: this.#userId, id }
    const history = await conversations.history(owned, read.bytes, pause)
    if (!history) {
      this.#isStored = false
      return read
    }
    this.#conversationId = id
    const { conversation: _conversation, ...body } = read.body
    const { store } = body
    this.#isUnstored = store === false
    // Requests the reasoning content, which the next request of the conversation sends back.
    const thinking = store === false ? body : { ...body, store: true }
    return prependHistory(history, { ...read, body: thinking })
  }

  /** Sets `store`, so that the response contains the reasoning that the next request must send back. */
  #withStore(read: ReadBody): ReadBody {
    if (!this.#isStored || read.body['store'] === true) return read
    return { ...read, body: { ...read.body, store: true } }
  }

  /** Adds the storage fields to a response, as far as Tollgate owns them. */
  addStorageFields(response: JsonObject): JsonObject {
    const isOurs = this.#isBackground || response['id'] === this.#id
    const conversation = this.#conversationId
    const annotated = {
      ...response,
      ...(conversation !== null && { conversation: { id: conversation } }),
      ...(isOurs && { store: this.#isStored, previous_response_id: this.#previousId }),
      ...(this.#isBackground && { id: this.#id, background: true }),
    }
    if (this.#isBackground) this.#latest = annotated
    return annotated
  }

  /** Stores a whole response if requested. A background run stores its own. */
  storeIfRequested(response: JsonObject): void {
    if (this.#isBackground || !isComplete(response)) return
    this.storeInConversation(response)
    if (!this.#isStored || response['id'] !== this.#id) return
    this.#storage.store.save({
      id: this.#id,
      userId: this.#userId,
      previousId: this.#previousId,
      input: this.#input,
      response,
    })
  }

  /** Adds a whole response to the conversation that its request names, if any. */
  storeInConversation(response: JsonObject): void {
    if (!isComplete(response)) return
    if (this.#conversationId !== null) {
      const storage = this.#storage.conversations.store({
        userId: this.#userId,
        conversationId: this.#conversationId,
        responseId: this.#id,
        items: [...this.#input, ...itemsOf(response['output'])].filter(
          (item) => !this.#isUnstored || !isUnreadable(item),
        ),
      })
      this.#write = withTimeout(storage, maxWriteMs).catch(() => undefined)
    }
  }
}

const isComplete = ({ status }: JsonObject) => status === 'completed' || status === 'incomplete'

/** Statuses of responses that have not ended, or that no request can continue. */
const unfinished = /^(queued|in_progress|failed|cancelled)$/

function assertEnded(status: unknown): void {
  if (typeof status !== 'string' || !unfinished.test(status)) return
  throw invalidRequest(
    'previous_response_id',
    'wrong_state',
    `previous_response_id: this response has the status ${status}; only a completed or incomplete response can be continued.`,
  )
}

const storageDisabled = () =>
  invalidRequest(
    'background',
    'not_allowed',
    'background: responses are not stored on this server, so background mode is not available.',
  )

const notStored = () =>
  invalidRequest(
    'store',
    'conflict',
    'store: background responses are always stored. Remove store, or set it to true.',
  )

const unknownHistory = (field: string) =>
  invalidRequest(
    field,
    'not_allowed',
    `${field}: not stored for this account; a background response can only continue a stored one.`,
  )

const conflictingHistory = () =>
  invalidRequest(
    'previous_response_id',
    'conflict',
    'previous_response_id: cannot be combined with conversation.',
  )

/** Whether an item is reasoning without content, which is looked up by its id. */
const isUnreadable = ({ type, encrypted_content: text }: JsonObject) =>
  type === 'reasoning' && !text

/** Throws `invalid_request` where a history has more structure than a request may continue. */
function assertLight(history: readonly JsonObject[]): void {
  const { maxNodes } = historyShape
  if (weigh(history) <= maxNodes) return
  throw invalidRequest(
    'previous_response_id',
    'limit_reached',
    `previous_response_id: the inputs and outputs before this request have more than ${maxNodes} objects, lists and names. Begin anew.`,
  )
}

/** Returns the id of the conversation in a request. */
function idOf(conversation: unknown): string | undefined {
  const id = isObject(conversation) ? conversation['id'] : conversation
  return typeof id === 'string' && id !== '' ? id : undefined
}

function prependHistory(history: History, { body, bytes }: ReadBody): ReadBody {
  const input = [...history.items, ...itemsOf(body['input'])]
  return {
    // An empty list is rejected as an empty input; so is an absent one.
    body: input.length > 0 ? { ...body, input } : body,
    bytes: bytes + history.bytes,
  }
}

/** Returns the items of an input or an output; a text is a user message. */
const itemsOf = (value: unknown): JsonObject[] => {
  if (typeof value === 'string') return [{ type: 'message', role: 'user', content: value }]
  return toObjects(value)
}
