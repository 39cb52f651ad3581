import { LRUCache } from 'lru-cache'
import { rendezvousOrder } from './rendezvous'
import { isObject, type JsonObject } from '../wire/json-body'

/** Which model on which connection served a conversation. */
export interface Served {
  modelId: string
  connectionId: string
}

interface Entry extends Served {
  atMs: number
  /** It was sent there as a conversation that goes on, not as a first request by the strategy. */
  isContinued: boolean
}

interface Options {
  /** Monotonic milliseconds. */
  now?: () => number
  /** Whether no other process serves the same accounts. */
  isAlone?: () => boolean
}

/** Those used longest ago are evicted: some 20 MB. */
const maxConversations = 50_000
/** The longest that Anthropic keeps a prompt in its cache. */
const keptMs = 3_600_000

/**
 * Who last served which conversation, so that its next request goes where its prompt is cached. Each
 * process has its own, in memory. Beside other processes, where a first request was served counts for
 * nothing: they do not know of it, and would send the next one elsewhere.
 */
export class ConversationAffinity {
  readonly #now: () => number
  readonly #isAlone: () => boolean
  readonly #served = new LRUCache<string, Entry>({ max: maxConversations })

  constructor({ now = () => performance.now(), isAlone = () => true }: Options = {}) {
    this.#now = now
    this.#isAlone = isAlone
  }

  find(key: string): Served | undefined {
    const entry = this.#served.get(key)
    if (!entry || this.#now() - entry.atMs >= keptMs) return undefined
    return entry.isContinued || this.#isAlone() ? entry : undefined
  }

  remember(key: string, { modelId, connectionId }: Served, isContinued: boolean): void {
    this.#served.set(key, { modelId, connectionId, isContinued, atMs: this.#now() })
  }
}

/** What routing asks of a conversation. */
export type ContinuedConversation = Pick<Conversation, 'isContinued' | 'preferred' | 'order'>

/**
 * The conversation that a request belongs to: what its client calls it (`prompt_cache_key`), else what its
 * first instructions and its first message say. Nothing of that is read unless there is a choice
 * among connections or models.
 */
export class Conversation {
  readonly #affinity: ConversationAffinity
  readonly #accountId: string
  readonly #chat: JsonObject
  #key: string | undefined

  constructor(affinity: ConversationAffinity, accountId: string, chat: JsonObject) {
    this.#affinity = affinity
    this.#accountId = accountId
    this.#chat = chat
  }

  /** Whether this is a later request than its first, which goes where its strategy has it go. */
  get isContinued(): boolean {
    // Also of a first one it is remembered who served it.
    this.#identity()
    return isContinued(this.#chat)
  }

  /** Who served it; undefined for its first request. */
  get preferred(): Served | undefined {
    return this.isContinued ? this.#affinity.find(this.#identity()) : undefined
  }

  /**
   * Candidates of equal rank in the order in which every process tries them for this conversation. Weights
   * are 1 unless said otherwise.
   */
  order<Item>(
    items: readonly Item[],
    idOf: (item: Item) => string,
    weightOf: (item: Item) => number = () => 1,
  ): Item[] {
    return rendezvousOrder(this.#identity(), items, { idOf, weightOf })
  }

  /** It was served; remembered where there was a choice. */
  served(served: Served): void {
    if (this.#key === undefined) return
    this.#affinity.remember(this.#key, served, isContinued(this.#chat))
  }

  #identity(): string {
    return (this.#key ??= `${this.#accountId} ${keyOf(this.#chat)}`)
  }
}

const nameIn = ({ prompt_cache_key: name }: JsonObject) =>
  typeof name === 'string' && name !== '' ? name : undefined

const messagesIn = ({ messages }: JsonObject): readonly unknown[] =>
  Array.isArray(messages) ? messages : []

const roleOf = (message: unknown) => (isObject(message) ? message['role'] : undefined)

/**
 * A request that continues none leaves the strategy alone, also where many have the same texts. One that its
 * client names goes where all of that name go, from the first on.
 */
const isContinued = (chat: JsonObject) =>
  nameIn(chat) !== undefined || messagesIn(chat).some((message) => roleOf(message) === 'assistant')

/** Characters of a text that tell conversations apart. */
const maxLength = 16_384

function keyOf(chat: JsonObject): string {
  const name = nameIn(chat)
  if (name !== undefined) return `named ${Bun.hash(name).toString(36)}`
  const messages = messagesIn(chat)
  const [head] = messages
  const user = messages.find((message) => roleOf(message) === 'user')
  return Bun.hash(`${textOf(head)}\n${textOf(user)}`).toString(36)
}

function textOf(message: unknown): string {
  const content = isObject(message) ? message['content'] : undefined
  if (typeof content === 'string') return content.slice(0, maxLength)
  let text = ''
  for (const part of Array.isArray(content) ? content : []) {
    const said: unknown = isObject(part) ? part['text'] : undefined
    if (typeof said === 'string') text += said.slice(0, maxLength - text.length)
    if (text.length >= maxLength) break
  }
  return text
}
