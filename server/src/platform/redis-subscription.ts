import { Redis as Client } from 'ioredis'
import { Periodic } from './periodic'

interface Options {
  url: string
  channel: string
  onMessage: (text: string) => void
}

const checkMs = 2000
/** A connection that does not answer a ping for so long is replaced: its other end may have vanished. */
const silenceMs = 5000

/** Receives the messages of a channel. A connection that breaks is replaced; messages sent meanwhile are lost. */
export class RedisSubscription implements Disposable {
  readonly #options: Options
  readonly #checking: Periodic
  #client: Client
  #answeredAtMs = 0

  constructor(options: Options) {
    this.#options = options
    this.#client = this.#connect()
    this.#checking = new Periodic({ intervalMs: checkMs, run: () => this.#check() })
  }

  #connect(): Client {
    const { url, channel, onMessage } = this.#options
    const client = new Client(url, {
      enableOfflineQueue: true,
      enableReadyCheck: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    })
    this.#answeredAtMs = performance.now()
    // The next check replaces it.
    client.on('error', () => undefined)
    client.on('message', (_channel: string, text: string) => onMessage(text))
    client.subscribe(channel).catch(() => undefined)
    return client
  }

  #check(): void {
    const client = this.#client
    if (client.status === 'end' || performance.now() - this.#answeredAtMs > silenceMs) {
      client.disconnect()
      this.#client = this.#connect()
      return
    }
    client
      .ping()
      .then(() => (this.#answeredAtMs = performance.now()))
      .catch(() => undefined)
  }

  [Symbol.dispose](): void {
    this.#checking.stop()
    this.#client.disconnect()
  }
}
