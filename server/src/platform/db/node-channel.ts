import { Redis as Client } from 'ioredis'
import { generateIdBody } from './id'
import { withTimeout } from '../with-timeout'
import { Periodic } from '../periodic'

interface Options {
  url: string
  /** The id of this process. */
  node: string
  /** Called with each message to this node. */
  onMessage: (text: string) => void
  /** Recent messages to this node may have been lost. */
  onGap: () => void
  onError: (error: Error) => void
}

const channelOf = (node: string) => `tollgate:node:${node}`
const keyOf = (key: string) => `tollgate:body:${key}`

const checkEveryMs = 500
/** The interval at which it publishes to its own channel, to verify that it still receives. */
const selfCheckEveryMs = 5000
/** An opening pair of connections fails after this long without a message, an open one after `silenceMs`. */
const openingMs = 5000
const silenceMs = 15_000
/** The time after which a text that was put into Redis for another node expires. */
const bodyLifeSeconds = 30
const bodyMs = 5000

const options = {
  enableOfflineQueue: false,
  enableReadyCheck: false,
  maxRetriesPerRequest: 0,
  autoResubscribe: false,
  retryStrategy: () => null,
} as const

/** Two connections, as a subscribed one cannot publish. They are opened and closed together. */
interface Pair {
  /** Changes with each gap, so that other nodes notice it. */
  epoch: string
  speaker: Client
  listener: Client
  /** Its own message came back: this node receives what is published to it. */
  isOpen: boolean
  receivedAtMs: number
  publishedAtMs: number
}

/**
 * The messages between nodes over Redis, each node on a channel of its own. Messages of one node to another arrive in
 * order and complete, until either has a gap. Only bodies wait for Redis, and nothing is retried.
 */
export class NodeChannel implements AsyncDisposable {
  readonly #options: Options
  readonly #probing: Periodic
  #pair: Pair | undefined
  /** Whether the current outage of Redis has been reported. */
  #isReported = false

  constructor(settings: Options) {
    this.#options = settings
    this.#pair = this.#open()
    this.#probing = new Periodic({ intervalMs: checkEveryMs, run: () => this.#check() })
  }

  /** Whether this node receives its messages. */
  get isOpen(): boolean {
    return this.#pair?.isOpen === true
  }

  /** Changes after each gap. */
  get epoch(): string {
    return this.#pair?.epoch ?? ''
  }

  /** Resolves with whether that node received the message, as far as Redis knows; never rejects. */
  async publish(node: string, text: string): Promise<boolean> {
    try {
      const receivers = await this.#pair?.speaker.publish(channelOf(node), text)
      return receivers !== undefined && receivers > 0
    } catch {
      return false
    }
  }

  /** Stores a text for another node, which expires after a while. False if it cannot be stored. */
  async put(key: string, text: string): Promise<boolean> {
    const speaker = this.#pair?.speaker
    if (!speaker) return false
    try {
      await withTimeout(speaker.set(keyOf(key), text, 'EX', bodyLifeSeconds), bodyMs)
      return true
    } catch {
      return false
    }
  }

  /** Takes a text that another node has stored, once; undefined if it is missing or Redis does not answer. */
  async take(key: string): Promise<string | undefined> {
    const speaker = this.#pair?.speaker
    if (!speaker) return undefined
    try {
      const name = keyOf(key)
      const answers = await withTimeout(speaker.multi().get(name).del(name).exec(), bodyMs)
      const text = answers?.[0]?.[1]
      return typeof text === 'string' ? text : undefined
    } catch {
      return undefined
    }
  }

  /** Deletes a text that no node needs to take any more. */
  drop(key: string): void {
    this.#pair?.speaker.del(keyOf(key)).catch(() => undefined)
  }

  /** Opens new clients each time, for the reason that `redis.ts` gives. */
  #open(): Pair {
    const { url, node, onMessage } = this.#options
    const nowMs = performance.now()
    const pair: Pair = {
      epoch: generateIdBody(),
      speaker: new Client(url, options),
      listener: new Client(url, options),
      isOpen: false,
      receivedAtMs: nowMs,
      publishedAtMs: nowMs,
    }
    const { speaker, listener } = pair
    for (const client of [speaker, listener]) {
      client.on('error', (error) => this.#onLost(pair, error))
      client.on('close', () => this.#onLost(pair, new Error('the connection to Redis was closed')))
    }
    listener.on('message', (_channel, text) => {
      pair.receivedAtMs = performance.now()
      if (text !== '') return onMessage(text)
      pair.isOpen = true
      this.#isReported = false
    })
    const begin = async () => {
      await Promise.all([speaker, listener].map(ready))
      await listener.subscribe(channelOf(node))
      await speaker.publish(channelOf(node), '')
    }
    begin().catch((thrown: unknown) => this.#onLost(pair, thrown))
    return pair
  }

  #check(): void {
    const pair = this.#pair
    if (!pair) {
      this.#pair = this.#open()
      return
    }
    const nowMs = performance.now()
    if (nowMs - pair.receivedAtMs > (pair.isOpen ? silenceMs : openingMs)) {
      return this.#onLost(pair, new Error('Redis does not answer'))
    }
    if (!pair.isOpen || nowMs - pair.publishedAtMs < selfCheckEveryMs) return
    pair.publishedAtMs = nowMs
    pair.speaker.publish(channelOf(this.#options.node), '').catch(() => undefined)
  }

  #onLost(pair: Pair, thrown: unknown): void {
    if (pair !== this.#pair) return
    this.#pair = undefined
    close(pair)
    this.#options.onGap()
    if (this.#isReported) return
    this.#isReported = true
    // Not the error itself: Redis' errors contain the command, and a command may contain a body.
    const message = thrown instanceof Error ? thrown.message : 'unknown error'
    this.#options.onError(new Error(message))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#probing.stop()
    const pair = this.#pair
    if (!pair) return
    // After the messages published before it.
    await withTimeout(pair.speaker.ping(), 1000).catch(() => undefined)
    this.#pair = undefined
    close(pair)
  }
}

function close({ speaker, listener }: Pair): void {
  for (const client of [speaker, listener]) {
    client.removeAllListeners()
    client.on('error', () => undefined)
    client.disconnect()
  }
}

const ready = (client: Client) =>
  new Promise<void>((resolve, reject) => {
    client.once('ready', resolve)
    client.once('end', () => reject(new Error('the connection to Redis was closed')))
  })
