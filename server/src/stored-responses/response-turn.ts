import type { BackgroundStore } from './background-store'
import type { History } from './conversation-reading'
import type { StoredConversations } from './conversations'
import { referencesIn, tooMuch, withReferencedItems } from './item-references'
import { maxChainBytes, type ResponseStore } from './store'
import {
  assertEnded,
  assertLight,
  conflictingHistory,
  notStored,
  storageDisabled,
  unknownHistory,
} from './turn-rejections'
import { isObject, type JsonObject, toObjects, type ReadBody } from '../wire/json-body'
import { yieldToLoop, type Pause } from '../wire/json-slices'
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

const maxChainMegabytes = maxChainBytes / 1024 / 1024

/** A response waits at most this long for its conversation to be stored: its items are then read on every node. */
const maxConversationWriteMs = 2000
/**
 * And this long for items that other nodes find by the ids of their provider alone. Every answer of such a provider
 * waits so while the database is away.
 */
const maxItemWriteMs = 250

/** One Responses request: the history that it continues, and whether its response is stored. */
export class StoredTurn {
  readonly #storage: ResponseKeeping
  /** The id of its response, if Tollgate assigns it. */
  readonly #id: string
  #userId = ''
  #input: readonly JsonObject[] = []
  /** The items that the request names by their ids. */
  #references: readonly string[] = []
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

  /** Whether the response contains the reasoning that the next request sends back. */
  get keepsThoughts(): boolean {
    return this.#isStored || (this.#conversationId !== null && !this.#isUnstored)
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

  /**
   * Returns the bytes that `expand` reads; 0 where the request continues nothing that is stored here. Throws or rejects
   * with `invalid_request` where its references are too many, or too large.
   */
  unreadBytes(userId: string, body: JsonObject): number | Promise<number> {
    if (this.#storage.mode === 'never') return 0
    this.#references = referencesIn(body['input'])
    const history = this.#historyBytes(userId, body)
    return this.#references.length === 0 ? history : this.#addItemBytes(userId, history)
  }

  async #addItemBytes(userId: string, history: number | Promise<number>): Promise<number> {
    const bytes = await this.#storage.store.itemBytes(userId, this.#references)
    if (bytes <= maxChainBytes) return bytes + (await history)
    throw tooMuch(`the responses whose items are named by id exceed ${maxChainMegabytes} MB`)
  }

  #historyBytes(userId: string, { previous_response_id: previous, conversation }: JsonObject) {
    const { store, conversations } = this.#storage
    const conversationId = idOf(conversation)
    if (conversationId !== undefined) return conversations.bytes(userId, conversationId)
    return typeof previous === 'string' && previous !== '' ? store.chainBytes(userId, previous) : 0
  }

  /**
   * Expands the request's input by the items that it names and the history that it continues, once `unreadBytes` has
   * counted them. What is unknown to this account stays unchanged: its provider may have it. `pause` is that of
   * `parseStored`. Throws or rejects with `invalid_request`.
   */
  expand(userId: string, read: ReadBody, pause: Pause = yieldToLoop): ReadBody | Promise<ReadBody> {
    if (this.#references.length === 0) return this.#continue(userId, read, pause)
    const options = { ids: this.#references, store: this.#storage.store, pause }
    return withReferencedItems(userId, read, options).then((whole) =>
      this.#continue(userId, whole, pause),
    )
  }

  #continue(userId: string, read: ReadBody, pause: Pause): ReadBody | Promise<ReadBody> {
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
    return hasPrevious ? this.#continueFrom(previous, read, pause) : read
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
    const expandedBody = await this.expand(userId, streamed, pause)
    for (const field of ['previous_response_id', 'conversation']) {
      if (expandedBody.body[field]) throw unknownHistory(field)
    }
    return expandedBody
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
    return prependHistory({ items, bytes }, { ...read, body })
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
    this.#isUnstored = body['store'] === false
    return prependHistory(history, { ...read, body })
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
    const writing = this.#storage.store.writeOf(this.#id)
    if (writing) this.#waitFor(writing, maxItemWriteMs)
  }

  /** The next request may need what is being written. */
  #waitFor(writing: Promise<void>, ms: number): void {
    const knownWrite = this.#write
    const limited = withTimeout(writing, ms).catch(() => undefined)
    this.#write = knownWrite ? Promise.all([knownWrite, limited]).then(() => undefined) : limited
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
      this.#waitFor(storage, maxConversationWriteMs)
    }
  }
}

const isComplete = ({ status }: JsonObject) => status === 'completed' || status === 'incomplete'

/** Whether an item is reasoning without content, which is looked up by its id. */
const isUnreadable = ({ type, encrypted_content: text }: JsonObject) =>
  type === 'reasoning' && !text

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
const itemsOf = (value: unknown): readonly JsonObject[] => {
  if (typeof value === 'string') return [{ type: 'message', role: 'user', content: value }]
  return toObjects(value)
}
