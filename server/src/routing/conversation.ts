import { LRUCache } from 'lru-cache'
import { isObject, type JsonObject } from '../wire/json-body'

/** Which model on which connection served a conversation. */
export interface Served {
  modelId: string
  connectionId: string
}

interface Entry extends Served {
  atMs: number
}

interface Options {
  /** Monotonic milliseconds. */
  now?: () => number
}

/** Those used longest ago are evicted: some 20 MB. */
const maxConversations = 50_000
/** The longest that Anthropic keeps a prompt in its cache. */
const keptMs = 3_600_000

/**
 * Who last served which conversation, so that its next request goes where its prompt is cached. Each
 * process has its own, in memory.
 */
export class ConversationAffinity {
  readonly #now: () => number
  readonly #served = new LRUCache<string, Entry>({ max: maxConversations })

  constructor({ now = () => performance.now() }: Options = {}) {
    this.#now = now
  }

  find(key: string): Served | undefined {
    const entry = this.#served.get(key)
    return entry && this.#now() - entry.atMs < keptMs ? entry : undefined
  }

  remember(key: string, { modelId, connectionId }: Served): void {
    this.#served.set(key, { modelId, connectionId, atMs: this.#now() })
  }
}

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

  /** Who served it; undefined for its first request, which goes where its strategy has it go. */
  get preferred(): Served | undefined {
    this.#key ??= `${this.#accountId} ${keyOf(this.#chat)}`
    return isContinued(this.#chat) ? this.#affinity.find(this.#key) : undefined
  }

  /** It was served; remembered where there was a choice. */
  served(served: Served): void {
    if (this.#key !== undefined) this.#affinity.remember(this.#key, served)
  }
}

const nameIn = ({ prompt_cache_key: name }: JsonObject) =>
  typeof name === 'string' && name !== '' ? name : undefined

const messagesIn = ({ messages }: JsonObject): readonly unknown[] =>
  Array.isArray(messages) ? messages : []

const roleOf = (message: unknown) => (isObject(message) ? message['role'] : undefined)

/** A request that continues none leaves the strategy alone, also where many have the same texts. */
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
