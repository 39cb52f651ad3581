import { createHash } from 'node:crypto'
import { Redis as Client } from 'ioredis'
import { withTimeout } from './with-timeout'
import { Periodic } from './periodic'

/** A Lua script, sent once and called by its hash afterwards. */
export interface Script {
  text: string
  hash: string
}

export const toScript = (text: string): Script => ({
  text,
  hash: createHash('sha1').update(text).digest('hex'),
})

interface Options {
  /** The timeout of a command: 50 ms by default. */
  deadlineMs?: number
  /** Called while Redis is unavailable, to test whether it answers again; rejects while it does not. */
  probe: (redis: Redis) => Promise<unknown>
  onError: (error: Error) => void
  /** Redis is back after it was away. */
  onBack: () => void
}

const usualDeadlineMs = 50
const failuresToOpen = 5
const probeEveryMs = 500
/** A connection without an answer for this long is replaced: its other end may have vanished. */
const silenceMs = 5000

/**
 * A connection to Redis with a circuit breaker: a command has a timeout, and after five failures in a row, or
 * when the connection breaks, all commands are rejected at once until a probe in the background is answered in time.
 */
export class Redis implements Disposable {
  readonly #url: string
  readonly #options: Options
  readonly #probing: Periodic
  #client: Client
  #connectedAtMs = 0
  #failures = 0
  #isAway = true
  #isProbing = false
  /** Redis has answered before, or was found to be away. */
  #isKnown = false

  constructor(url: string, options: Options) {
    this.#url = url
    this.#options = options
    this.#client = this.#connect()
    this.#probing = new Periodic({ intervalMs: probeEveryMs, run: () => this.#check() })
  }

  /**
   * Creates a new client each time: a client of ioredis 5.11 whose connection is reset right after it was accepted, as
   * by a proxy without a Redis behind it, considers itself ready and never reconnects.
   */
  #connect(): Client {
    const client = new Client(this.#url, {
      enableOfflineQueue: false,
      enableReadyCheck: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    })
    const lost = (error: Error) => {
      if (client === this.#client) this.#onLost(error)
    }
    client.on('error', lost)
    client.on('close', () => lost(new Error('the connection to Redis was closed')))
    client.on('ready', () => this.#check())
    this.#connectedAtMs = performance.now()
    return client
  }

  /** Whether commands are rejected at once. */
  get isAway(): boolean {
    return this.#isAway
  }

  /** Runs a script. Rejects on timeout, and at once while Redis is unavailable. */
  async run(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    if (this.#isAway) throw new Error('Redis is unavailable')
    try {
      const answer = await this.evaluate(script, keys, args)
      this.#failures = 0
      return answer
    } catch (thrown) {
      this.#failures += 1
      if (this.#failures >= failuresToOpen) this.#onLost(thrown)
      throw thrown
    }
  }

  /** Runs a script even while Redis counts as away: for the probe. Rejects on timeout. */
  evaluate(
    { text, hash }: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    return this.#inTime(
      this.#client.evalsha(hash, keys.length, ...keys, ...args).catch((thrown: unknown) => {
        if (!(thrown instanceof Error) || !thrown.message.startsWith('NOSCRIPT')) throw thrown
        return this.#client.eval(text, keys.length, ...keys, ...args)
      }),
    )
  }

  /** One timer for each command, as the commands of a frozen server settle in no particular order. */
  #inTime<Value>(reply: Promise<Value>): Promise<Value> {
    const { deadlineMs = usualDeadlineMs } = this.#options
    return withTimeout(reply, deadlineMs, whenSlow)
  }

  /** Checks whether Redis is back, while it is away. */
  #check(): void {
    if (!this.#isAway || this.#isProbing) return
    const silentMs = performance.now() - this.#connectedAtMs
    if (this.#client.status === 'end' || silentMs > silenceMs) {
      this.#client.disconnect()
      this.#client = this.#connect()
    } else if (this.#client.status === 'ready') {
      void this.#probe()
    }
  }

  async #probe(): Promise<void> {
    this.#isProbing = true
    try {
      await this.#options.probe(this)
      this.#failures = 0
      this.#isAway = false
      if (this.#isKnown) this.#options.onBack()
      this.#isKnown = true
    } catch (thrown) {
      // A late answer may still arrive; after any other error the next check reconnects.
      if (!(thrown instanceof TooSlow)) this.#connectedAtMs = -Infinity
    } finally {
      this.#isProbing = false
    }
  }

  #onLost(thrown: unknown): void {
    if (!this.#isAway || !this.#isKnown) {
      this.#options.onError(thrown instanceof Error ? thrown : new Error(String(thrown)))
    }
    if (!this.#isAway) this.#connectedAtMs = performance.now()
    this.#isAway = true
    this.#isKnown = true
  }

  [Symbol.dispose](): void {
    this.#probing.stop()
    this.#isKnown = true
    this.#isAway = true
    this.#client.disconnect()
  }
}

class TooSlow extends Error {
  override readonly message = 'Redis did not answer in time'
}

const whenSlow = { late: () => new TooSlow() }
