import type { Client } from 'pg'
import { systemClock, type Clock } from '../clock'

/** Callbacks by channel; each is called with the payload of a notification. */
export type Subscriptions = Readonly<Record<string, (payload: string) => void>>

interface ListenerOptions {
  connect: () => Client
  subscriptions: Subscriptions
  /** Notifications may have been missed: all cached rows must be looked up again. */
  onGap: () => void
  onError: (error: Error) => void
  clock?: Clock
}

const heartbeatMs = 2000
const firstBackoffMs = 100
const maxBackoffMs = 5000

/**
 * A connection that LISTENs. A connection can die without an error, so it is pinged every 2 s; after each reconnection
 * `onGap` is called, as missed notifications are unknown.
 */
export class Listener implements AsyncDisposable {
  readonly #options: ListenerOptions
  #client: Client | undefined
  #timer: Disposable | undefined
  #backoffMs = firstBackoffMs
  #closed = false
  #hasConnected = false

  constructor(options: ListenerOptions) {
    this.#options = options
  }

  /** Connects; later breaks are repaired in the background. Rejects if the first attempt fails. */
  async start(): Promise<void> {
    await this.#connect()
  }

  async #connect(): Promise<void> {
    const client = this.#options.connect()
    client.on('error', (error) => this.#lost(client, error))
    client.on('end', () => this.#lost(client, new Error('the listening connection ended')))
    client.on('notification', ({ channel, payload = '' }) =>
      this.#options.subscriptions[channel]?.(payload),
    )
    try {
      await client.connect()
      for (const channel of Object.keys(this.#options.subscriptions)) {
        await client.query(`listen ${client.escapeIdentifier(channel)}`)
      }
    } catch (error) {
      client.end().catch(() => undefined)
      throw error
    }
    if (this.#closed) return void client.end().catch(() => undefined)
    this.#client = client
    this.#backoffMs = firstBackoffMs
    if (this.#hasConnected) this.#options.onGap()
    this.#hasConnected = true
    this.#schedule(() => this.#beat(client), heartbeatMs)
  }

  #beat(client: Client): void {
    client.query('select 1').then(
      () => {
        // It may be lost already, in the packet that answered: then the timer is that of its successor.
        if (this.#client === client) this.#schedule(() => this.#beat(client), heartbeatMs)
      },
      (error: unknown) => this.#lost(client, error),
    )
  }

  #lost(client: Client, error: unknown): void {
    if (this.#closed || this.#client !== client) return
    this.#client = undefined
    this.#options.onError(error instanceof Error ? error : new Error(String(error)))
    client.end().catch(() => undefined)
    this.#reconnectLater()
  }

  #reconnectLater(): void {
    this.#schedule(() => {
      this.#connect().catch(() => {
        this.#backoffMs = Math.min(this.#backoffMs * 2, maxBackoffMs)
        this.#reconnectLater()
      })
    }, this.#backoffMs)
  }

  #schedule(task: () => void, delayMs: number): void {
    this.#timer?.[Symbol.dispose]()
    const { clock = systemClock } = this.#options
    if (!this.#closed) this.#timer = clock.after(delayMs, task)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    this.#timer?.[Symbol.dispose]()
    await this.#client?.end().catch(() => undefined)
  }
}
