import { LRUCache } from 'lru-cache'
import { rendezvousOrder } from './rendezvous'
import { roleOf } from '../wire/chat-request'
import { isObject, type JsonObject } from '../wire/json-body'
import { limitEntries } from '../platform/cache-limit'

/** The model and the connection that served a conversation. */
export interface ServedRoute {
  modelId: string
  connectionId: string
}

interface Entry extends ServedRoute {
  atMs: number
  /** It was routed as a conversation that continues, not as a first request by the strategy. */
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
const affinityMs = 3_600_000

/**
 * Remembers the routes of conversations, so that the next request of one goes where its prompt is cached. Each
 * process has its own, in memory. Beside other processes the route of a first request is ignored: they do not know of
 * it, and would send the next one elsewhere.
 */
export class ConversationAffinity {
  readonly #now: () => number
  readonly #isAlone: () => boolean
  readonly #entries = new LRUCache<string, Entry>(limitEntries(maxConversations))

  constructor({ now = () => performance.now(), isAlone = () => true }: Options = {}) {
    this.#now = now
    this.#isAlone = isAlone
  }

  find(key: string): ServedRoute | undefined {
    const entry = this.#entries.get(key)
    if (!entry || this.#now() - entry.atMs >= affinityMs) return undefined
    return entry.isContinued || this.#isAlone() ? entry : undefined
  }

  remember(key: string, { modelId, connectionId }: ServedRoute, isContinued: boolean): void {
    this.#entries.set(key, { modelId, connectionId, isContinued, atMs: this.#now() })
  }
}

/** The part of a conversation that routing reads. */
export type ContinuedConversation = Pick<
  CachedConversation,
  'isContinued' | 'preferredRoute' | 'order'
>

/**
 * The conversation of a request: identified by the client's name for it (`prompt_cache_key`), else by its first
 * instructions and its first message. None of these is read unless there is a choice among connections or models.
 */
export class CachedConversation {
  readonly #affinity: ConversationAffinity
  readonly #accountId: string
  readonly #chat: JsonObject
  #key: string | undefined

  constructor(affinity: ConversationAffinity, accountId: string, chat: JsonObject) {
    this.#affinity = affinity
    this.#accountId = accountId
    this.#chat = chat
  }

  /** Whether this is a later request than its first, which is routed by its strategy. */
  get isContinued(): boolean {
    // The route of a first request is remembered too.
    this.#identity()
    return isContinued(this.#chat)
  }

  /** The route that served it; undefined for its first request. */
  get preferredRoute(): ServedRoute | undefined {
    return this.isContinued ? this.#affinity.find(this.#identity()) : undefined
  }

  /**
   * Puts candidates of equal rank in the order in which every process tries them for this conversation. Weights
   * default to 1.
   */
  order<Item>(
    items: readonly Item[],
    idOf: (item: Item) => string,
    weightOf: (item: Item) => number = () => 1,
  ): Item[] {
    return rendezvousOrder(this.#identity(), items, { idOf, weightOf })
  }

  /** Records the route that served it; kept where there was a choice. */
  recordRoute(route: ServedRoute): void {
    if (this.#key === undefined) return
    this.#affinity.remember(this.#key, route, isContinued(this.#chat))
  }

  #identity(): string {
    return (this.#key ??= `${this.#accountId} ${keyOf(this.#chat)}`)
  }
}

const nameIn = ({ prompt_cache_key: name }: JsonObject) =>
  typeof name === 'string' && name !== '' ? name : undefined

const messagesIn = ({ messages }: JsonObject): readonly unknown[] =>
  Array.isArray(messages) ? messages : []

/**
 * A request that continues none leaves the strategy alone, also where many have the same texts. One with a client's
 * name for its conversation goes where all of that name go, from the first on.
 */
const isContinued = (chat: JsonObject) =>
  nameIn(chat) !== undefined || messagesIn(chat).some((message) => roleOf(message) === 'assistant')

/** The length of the texts by which conversations are distinguished. */
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
    const partText: unknown = isObject(part) ? part['text'] : undefined
    if (typeof partText === 'string') text += partText.slice(0, maxLength - text.length)
    if (text.length >= maxLength) break
  }
  return text
}
