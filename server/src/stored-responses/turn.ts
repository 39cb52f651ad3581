import type { BackgroundStore } from './background-store'
import type { ConversationStore } from './conversations'
import type { ResponseStore } from './store'
import { invalidRequest } from '../errors'
import { isObject, type JsonObject } from '../wire/json-body'
import { within } from '../within'

/** Which answers are kept: all but those whose request says no, those whose request says so, none. */
export type StoringMode = 'always' | 'asked' | 'never'

/** What keeps answers and conversations, and which answers. */
export interface ResponseKeeping {
  store: ResponseStore
  conversations: ConversationStore
  background: BackgroundStore
  mode: StoringMode
}

/** An answer waits no longer for its conversation to be kept. */
const patienceMs = 2000

interface ReadRequest {
  body: JsonObject
  bytes: number
}

/** One request for a Response: what it goes on from, and whether its answer is kept. */
export class StoredTurn {
  readonly #keeping: ResponseKeeping
  /** The id that its answer has, if it is ours. */
  readonly #id: string
  #userId = ''
  #input: readonly JsonObject[] = []
  #previousId: string | null = null
  #conversationId: string | null = null
  #isKept = false
  #isBackground = false
  #latest: JsonObject | undefined
  /** Its provider keeps nothing: thoughts that came without their text mean nothing to anybody. */
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

  /** What its answer goes on from, and what it was asked by itself. */
  get asked(): { previousId: string | null; input: readonly JsonObject[] } {
    return { previousId: this.#previousId, input: this.#input }
  }

  /** The whole answer as it was told last. */
  get latest(): JsonObject | undefined {
    return this.#latest
  }

  /** Something is to be said of keeping. */
  get hasPart(): boolean {
    return this.#isKept || this.#previousId !== null || this.#conversationId !== null
  }

  /** Set while what the next request may need is on its way to where all nodes find it. */
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
   * The request with all that it goes on from in its input. One that goes on from what the account does not
   * have here stays as it is: its provider may have it. Throws `invalid_request`.
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
   * The same for an answer that is made in the background: a stream, as which it is collected. It is always kept
   * here, on every connection. Rejects with `invalid_request`.
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
      // The provider that may have the one before has this one, too.
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
    // So that thoughts come back, which the next request of the conversation brings.
    const thinking = store === false ? body : { ...body, store: true }
    return withEarlier(earlier, { ...read, body: thinking })
  }

  /** With `store`, an answer has the thoughts that the next request has to bring back. */
  #asKept(read: ReadRequest): ReadRequest {
    if (!this.#isKept || read.body['store'] === true) return read
    return { ...read, body: { ...read.body, store: true } }
  }

  /** An answer as its caller gets it: with what is said of its keeping, where that is ours to say. */
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

  /** Keeps a whole answer that was told, where that is asked for. Who makes it in the background keeps it himself. */
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

  /** Adds a whole answer to the conversation of its request, where that names one. */
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
      this.#keepingOn = within(keeping, patienceMs).catch(() => undefined)
    }
  }
}

const isWhole = ({ status }: JsonObject) => status === 'completed' || status === 'incomplete'

/** Statuses of what has no end, or none that could be gone on from. */
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

/** Thoughts without their text are looked up by their id. */
const isUnreadable = ({ type, encrypted_content: text }: JsonObject) =>
  type === 'reasoning' && !text

/** The id of a conversation, as a request names it. */
function idOf(conversation: unknown): string | undefined {
  const id = isObject(conversation) ? conversation['id'] : conversation
  return typeof id === 'string' && id !== '' ? id : undefined
}

function withEarlier(earlier: readonly JsonObject[], { body, bytes }: ReadRequest): ReadRequest {
  const input = [...earlier, ...itemsOf(body['input'])]
  return {
    // An empty list is refused, as nothing is said in it; so is none at all.
    body: input.length > 0 ? { ...body, input } : body,
    bytes: bytes + Buffer.byteLength(JSON.stringify(earlier)),
  }
}

/** Items of an input or an output; a text is what a user says. */
const itemsOf = (value: unknown): JsonObject[] => {
  if (typeof value === 'string') return [{ type: 'message', role: 'user', content: value }]
  return Array.isArray(value) ? value.filter(isObject) : []
}
