import type { BackgroundStore } from './background-store'
import type { StoredConversations } from './conversations'
import type { ResponseStore } from './store'
import { invalidRequest } from '../errors'
import { isObject, type JsonObject } from '../wire/json-body'
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
const patienceMs = 2000

interface ReadRequest {
  body: JsonObject
  bytes: number
}

/** One Responses request: the history that it continues, and whether its response is stored. */
export class StoredTurn {
  readonly #keeping: ResponseKeeping
  /** The id of its response, if Tollgate assigns it. */
  readonly #id: string
  #userId = ''
  #input: readonly JsonObject[] = []
  #previousId: string | null = null
  #conversationId: string | null = null
  #isKept = false
  #isBackground = false
  #latest: JsonObject | undefined
  /** The provider stores nothing: reasoning without its content is of no use later. */
  #isForgotten = false
  #keepingOn: Promise<void> | undefined

  constructor(keeping: ResponseKeeping, requestId: string) {
    this.#keeping = keeping
    this.#id = `resp_${requestId.slice(requestId.indexOf('_') + 1)}`
  }

  get id(): string {
    return this.#id
  }

  get isBackground(): boolean {
    return this.#isBackground
  }

  /** The response that this one continues, and the request's own input. */
  get asked(): { previousId: string | null; input: readonly JsonObject[] } {
    return { previousId: this.#previousId, input: this.#input }
  }

  /** The last version of the whole response that was sent. */
  get latest(): JsonObject | undefined {
    return this.#latest
  }

  /** Whether the response needs storage fields. */
  get hasPart(): boolean {
    return this.#isKept || this.#previousId !== null || this.#conversationId !== null
  }

  /** Set while data that the next request may need is being written. */
  get kept(): Promise<void> | undefined {
    return this.#keepingOn
  }

  /** Returns the bytes that `expand` reads; 0 where the request continues nothing that is stored here. */
  unreadBytes(userId: string, { previous_response_id: previous, conversation }: JsonObject) {
    const { store, conversations, mode } = this.#keeping
    if (mode === 'never') return 0
    const conversationId = idOf(conversation)
    if (conversationId !== undefined) return conversations.bytes(userId, conversationId)
    return typeof previous === 'string' && previous !== '' ? store.chainBytes(userId, previous) : 0
  }

  /**
   * Expands the request's input by the history that it continues. A request with a history unknown to this account
   * stays unchanged: its provider may have it. Throws `invalid_request`.
   */
  expand(userId: string, read: ReadRequest): ReadRequest | Promise<ReadRequest> {
    const { store, previous_response_id: previous, conversation } = read.body
    const { mode } = this.#keeping
    this.#userId = userId
    this.#isKept = mode === 'always' ? store !== false : mode === 'asked' && store === true
    if (this.#isBackground) this.#isKept = true
    const conversationId = idOf(conversation)
    if (this.#isKept || conversationId !== undefined) this.#input = itemsOf(read.body['input'])
    if (mode === 'never') return read
    const hasPrevious = typeof previous === 'string' && previous !== ''
    if (conversationId !== undefined) {
      if (hasPrevious) throw notBoth()
      return this.#join(conversationId, read)
    }
    return hasPrevious ? this.#goOnFrom(previous, read) : this.#asKept(read)
  }

  /**
   * Expands a request that is answered in the background: as a stream, which is collected. Its response is always
   * stored here, on every connection. Rejects with `invalid_request`.
   */
  async expandInBackground(userId: string, read: ReadRequest): Promise<ReadRequest> {
    const { background: _background, ...body } = read.body
    if (this.#keeping.mode === 'never') throw notKept()
    if (body['store'] === false) throw notStored()
    this.#isBackground = true
    const expanded = await this.expand(userId, { ...read, body: { ...body, stream: true } })
    for (const field of ['previous_response_id', 'conversation']) {
      if (expanded.body[field]) throw unknownHere(field)
    }
    return expanded
  }

  async #goOnFrom(previous: string, read: ReadRequest): Promise<ReadRequest> {
    const chain = await this.#keeping.store.chain(this.#userId, previous)
    assertEnded(chain?.at(-1)?.response['status'])
    if (!chain) {
      // The provider that may have the previous response stores this one, too.
      this.#isKept = false
      return read
    }
    this.#previousId = previous
    const { previous_response_id: _previous, ...body } = read.body
    const earlier = chain.flatMap((one) => [...one.input, ...itemsOf(one.response['output'])])
    return this.#asKept(withEarlier(earlier, { ...read, body }))
  }

  async #join(conversationId: string, read: ReadRequest): Promise<ReadRequest> {
    const { conversations } = this.#keeping
    const earlier = await conversations.history(this.#userId, conversationId, read.bytes)
    if (!earlier) {
      this.#isKept = false
      return read
    }
    this.#conversationId = conversationId
    const { conversation: _conversation, ...body } = read.body
    const { store } = body
    this.#isForgotten = store === false
    // Requests the reasoning content, which the next request of the conversation sends back.
    const thinking = store === false ? body : { ...body, store: true }
    return withEarlier(earlier, { ...read, body: thinking })
  }

  /** Sets `store`, so that the response contains the reasoning that the next request must send back. */
  #asKept(read: ReadRequest): ReadRequest {
    if (!this.#isKept || read.body['store'] === true) return read
    return { ...read, body: { ...read.body, store: true } }
  }

  /** Adds the storage fields to a response, as far as Tollgate owns them. */
  told(response: JsonObject): JsonObject {
    const isOurs = this.#isBackground || response['id'] === this.#id
    const conversation = this.#conversationId
    const told = {
      ...response,
      ...(conversation !== null && { conversation: { id: conversation } }),
      ...(isOurs && { store: this.#isKept, previous_response_id: this.#previousId }),
      ...(this.#isBackground && { id: this.#id, background: true }),
    }
    if (this.#isBackground) this.#latest = told
    return told
  }

  /** Stores a whole response if requested. A background run stores its own. */
  keep(response: JsonObject): void {
    if (this.#isBackground || !isWhole(response)) return
    this.keepInConversation(response)
    if (!this.#isKept || response['id'] !== this.#id) return
    this.#keeping.store.save({
      id: this.#id,
      userId: this.#userId,
      previousId: this.#previousId,
      input: this.#input,
      response,
    })
  }

  /** Adds a whole response to the conversation that its request names, if any. */
  keepInConversation(response: JsonObject): void {
    if (!isWhole(response)) return
    if (this.#conversationId !== null) {
      const keeping = this.#keeping.conversations.keep({
        userId: this.#userId,
        conversationId: this.#conversationId,
        responseId: this.#id,
        items: [...this.#input, ...itemsOf(response['output'])].filter(
          (item) => !this.#isForgotten || !isUnreadable(item),
        ),
      })
      this.#keepingOn = withTimeout(keeping, patienceMs).catch(() => undefined)
    }
  }
}

const isWhole = ({ status }: JsonObject) => status === 'completed' || status === 'incomplete'

/** Statuses of responses that have not ended, or that no request can continue. */
const unfinished = /^(queued|in_progress|failed|cancelled)$/

function assertEnded(status: unknown): void {
  if (typeof status !== 'string' || !unfinished.test(status)) return
  throw invalidRequest(
    'previous_response_id',
    'wrong_state',
    `previous_response_id: this response has the status ${status}; only one that is completed or incomplete is gone on from.`,
  )
}

const notKept = () =>
  invalidRequest(
    'background',
    'not_allowed',
    'background: answers are not kept here, so that none can be made in the background.',
  )

const notStored = () =>
  invalidRequest(
    'store',
    'conflict',
    'store: an answer in the background is kept. Leave store out, or set it to true.',
  )

const unknownHere = (field: string) =>
  invalidRequest(
    field,
    'not_allowed',
    `${field}: none of this id is kept for this account, and an answer in the background goes on from nothing else.`,
  )

const notBoth = () =>
  invalidRequest(
    'previous_response_id',
    'conflict',
    'previous_response_id: a request goes on from a response or from a conversation, not from both.',
  )

/** Whether an item is reasoning without content, which is looked up by its id. */
const isUnreadable = ({ type, encrypted_content: text }: JsonObject) =>
  type === 'reasoning' && !text

/** Returns the id of the conversation in a request. */
function idOf(conversation: unknown): string | undefined {
  const id = isObject(conversation) ? conversation['id'] : conversation
  return typeof id === 'string' && id !== '' ? id : undefined
}

function withEarlier(earlier: readonly JsonObject[], { body, bytes }: ReadRequest): ReadRequest {
  const input = [...earlier, ...itemsOf(body['input'])]
  return {
    // An empty list is rejected as an empty input; so is an absent one.
    body: input.length > 0 ? { ...body, input } : body,
    bytes: bytes + Buffer.byteLength(JSON.stringify(earlier)),
  }
}

/** Returns the items of an input or an output; a text is a user message. */
const itemsOf = (value: unknown): JsonObject[] => {
  if (typeof value === 'string') return [{ type: 'message', role: 'user', content: value }]
  return Array.isArray(value) ? value.filter(isObject) : []
}
