import { Redis as Client } from 'ioredis'
import { generateIdBody } from './id'
import { withTimeout } from '../with-timeout'

interface Options {
  url: string
  /** The id of this process. */
  node: string
  /** Somebody said something to this node. */
  heard: (text: string) => void
  /** What was said to this node lately may have been lost. */
  onGap: () => void
  onError: (error: Error) => void
}

const channelOf = (node: string) => `tollgate:node:${node}`
const keyOf = (key: string) => `tollgate:body:${key}`

const lookEveryMs = 500
/** How often it sees that it still hears. */
const wordEveryMs = 5000
/** One that opens, and one that was open, has ended after such a silence. */
const openingMs = 5000
const silenceMs = 15_000
/** What is put into Redis for another node is gone after that. */
const keptSeconds = 30
const bodyMs = 5000

const options = {
  enableOfflineQueue: false,
  enableReadyCheck: false,
  maxRetriesPerRequest: 0,
  autoResubscribe: false,
  retryStrategy: () => null,
} as const

/** Two connections, as one that listens can say nothing. They are opened, and given up, together. */
interface Pair {
  /** Others see by it that there was a gap. */
  epoch: string
  speaker: Client
  listener: Client
  /** Its own word came back: whatever is said to this node is heard. */
  isOpen: boolean
  heardAtMs: number
  spokeAtMs: number
}

/**
 * What nodes say to one another over Redis, each on a channel of its own. What one says to another comes in
 * order and whole, until either has a gap. Nothing waits for Redis but bodies, and nothing is tried again.
 */
export class NodeChannel implements AsyncDisposable {
  readonly #options: Options
  readonly #timer: ReturnType<typeof setInterval>
  #pair: Pair | undefined
  /** That Redis is away was told. */
  #isTold = false

  constructor(settings: Options) {
    this.#options = settings
    this.#pair = this.#open()
    this.#timer = setInterval(() => this.#look(), lookEveryMs)
    this.#timer.unref()
  }

  /** Whether this node hears what is said to it. */
  get isOpen(): boolean {
    return this.#pair?.isOpen === true
  }

  /** Another one after each gap. */
  get epoch(): string {
    return this.#pair?.epoch ?? ''
  }

  /** Resolves with whether that node heard it, as far as Redis knows; never rejects. */
  async say(node: string, text: string): Promise<boolean> {
    try {
      const heardBy = await this.#pair?.speaker.publish(channelOf(node), text)
      return heardBy !== undefined && heardBy > 0
    } catch {
      return false
    }
  }

  /** Keeps a text for another node for a while. False where it cannot be kept. */
  async put(key: string, text: string): Promise<boolean> {
    const speaker = this.#pair?.speaker
    if (!speaker) return false
    try {
      await withTimeout(speaker.set(keyOf(key), text, 'EX', keptSeconds), bodyMs)
      return true
    } catch {
      return false
    }
  }

  /** What another node has put there, once; undefined where it is not there, or not to be had. */
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

  /** Nobody has to take it any more. */
  drop(key: string): void {
    this.#pair?.speaker.del(keyOf(key)).catch(() => undefined)
  }

  /** Always new clients, as in `redis.ts`. */
  #open(): Pair {
    const { url, node, heard } = this.#options
    const nowMs = performance.now()
    const pair: Pair = {
      epoch: generateIdBody(),
      speaker: new Client(url, options),
      listener: new Client(url, options),
      isOpen: false,
      heardAtMs: nowMs,
      spokeAtMs: nowMs,
    }
    const { speaker, listener } = pair
    for (const client of [speaker, listener]) {
      client.on('error', (error) => this.#lose(pair, error))
      client.on('close', () => this.#lose(pair, new Error('the connection to Redis was closed')))
    }
    listener.on('message', (_channel, text) => {
      pair.heardAtMs = performance.now()
      if (text !== '') return heard(text)
      pair.isOpen = true
      this.#isTold = false
    })
    const begin = async () => {
      await Promise.all([speaker, listener].map(ready))
      await listener.subscribe(channelOf(node))
      await speaker.publish(channelOf(node), '')
    }
    begin().catch((thrown: unknown) => this.#lose(pair, thrown))
    return pair
  }

  #look(): void {
    const pair = this.#pair
    if (!pair) {
      this.#pair = this.#open()
      return
    }
    const nowMs = performance.now()
    if (nowMs - pair.heardAtMs > (pair.isOpen ? silenceMs : openingMs)) {
      return this.#lose(pair, new Error('Redis does not answer'))
    }
    if (!pair.isOpen || nowMs - pair.spokeAtMs < wordEveryMs) return
    pair.spokeAtMs = nowMs
    pair.speaker.publish(channelOf(this.#options.node), '').catch(() => undefined)
  }

  #lose(pair: Pair, thrown: unknown): void {
    if (pair !== this.#pair) return
    this.#pair = undefined
    close(pair)
    this.#options.onGap()
    if (this.#isTold) return
    this.#isTold = true
    // Not what was thrown itself: Redis' errors hold the command, and a command may hold a body.
    const words = thrown instanceof Error ? thrown.message : 'unknown error'
    this.#options.onError(new Error(words))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    const pair = this.#pair
    if (!pair) return
    // Behind what was said last.
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
