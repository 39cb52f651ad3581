import { systemClock, type Clock } from '../clock'
import { noAnswer, withTimeout } from '../with-timeout'

interface Ports {
  /** The cheapest query of the database, on a connection that no other statement uses. */
  ping: () => Promise<unknown>
  clock?: Clock
}

/** Without any answer for this long, the database counts as gone: a caller is rejected within a second. */
const maxSilenceMs = 800
/** The number of round trips that a statement may need, as when a connection is opened first. */
const roundTrips = 6
const maxPings = 5
/** A lookup may wait for a connection when many arrive at once. */
const maxLookUpMs = 10_000
/** The longest wait for a connection of the pool, to a near database. */
const maxConnectMs = 5000
/** The round trips of the statements of the callers before it, in several rounds. */
const queueRoundTrips = 40
/** No database in use is further away; the first ping of a connection also opens it. */
const maxRoundTripMs = 1000

/**
 * Measures whether the database answers, and its round trip time. A slow statement keeps its caller waiting as long as
 * the database answers others: it may wait for a lock or a commit.
 */
export class DatabaseLiveness {
  readonly #ports: Ports
  #answeredAtMs = -Infinity
  /** When the last ping was sent. */
  #pingedAtMs = -Infinity
  #pinging: Promise<void> | undefined
  #pings: number[] = []
  readonly #timing: { clock: Clock }

  constructor(ports: Ports) {
    this.#ports = ports
    this.#timing = { clock: ports.clock ?? systemClock }
  }

  /** The round trip time in milliseconds: the fastest of the last pings. */
  get roundTripMs(): number {
    return this.#pings.length > 0 ? Math.min(...this.#pings) : 0
  }

  /** The time without any answer after which the database counts as gone, in milliseconds. */
  get maxSilenceMs(): number {
    return maxSilenceMs + roundTrips * this.roundTripMs
  }

  /** The longest that `lookUp` waits, in milliseconds. */
  get maxLookUpMs(): number {
    return maxLookUpMs + queueRoundTrips * this.#distanceMs
  }

  /** The longest wait for a connection of the pool, in milliseconds. */
  get maxConnectMs(): number {
    return maxConnectMs + queueRoundTrips * this.#distanceMs
  }

  /** Returns the timeout of a lookup or a short statement, in milliseconds; `nearMs` is that with a near database. */
  timeoutFor(nearMs: number): number {
    return nearMs + roundTrips * this.#distanceMs
  }

  get #distanceMs(): number {
    return Math.min(this.roundTripMs, maxRoundTripMs)
  }

  /** Measures the round trip. Never rejects. */
  async measure(): Promise<void> {
    await this.#ping()
  }

  /** Whether the database answers. Never rejects. */
  async isAlive(): Promise<boolean> {
    const pinging = this.#ping()
    // A ping that is already waiting for its answer has used a part of the timeout.
    const waitedMs = this.#timing.clock.monotonicMs() - this.#pingedAtMs
    await this.#isSettledWithin(pinging, Math.max(0, this.maxSilenceMs - waitedMs))
    return this.#answeredAtMs >= this.#pingedAtMs
  }

  /**
   * Waits for a statement as long as the database answers others, at most `maxMs`. Rejects as the statement does,
   * or with `noAnswer`, when its outcome is not known.
   */
  async watch<Answer>(statement: Promise<Answer>, maxMs: number): Promise<Answer> {
    const startedAtMs = this.#timing.clock.monotonicMs()
    const settled = statement.then(
      () => this.#note(),
      () => undefined,
    )
    while (!(await this.#isSettledWithin(settled, this.maxSilenceMs / 4))) {
      const nowMs = this.#timing.clock.monotonicMs()
      const silentMs = nowMs - Math.max(this.#answeredAtMs, startedAtMs)
      if (silentMs >= this.maxSilenceMs || nowMs - startedAtMs >= maxMs) throw noAnswer()
      void this.#ping()
    }
    return await statement
  }

  /** Waits as `watch` does, for a lookup that a request needs before anything else. */
  lookUp<Answer>(statement: Promise<Answer>): Promise<Answer> {
    return this.watch(statement, this.maxLookUpMs)
  }

  #note(): void {
    this.#answeredAtMs = this.#timing.clock.monotonicMs()
  }

  /** Sends one ping at a time. Never rejects. */
  #ping(): Promise<void> {
    return (this.#pinging ??= this.#timedPing().finally(() => (this.#pinging = undefined)))
  }

  async #timedPing(): Promise<void> {
    const startedAtMs = this.#timing.clock.monotonicMs()
    this.#pingedAtMs = startedAtMs
    try {
      await this.#ports.ping()
    } catch {
      return
    }
    this.#note()
    this.#pings = [...this.#pings, this.#answeredAtMs - startedAtMs].slice(-maxPings)
  }

  /**
   * Whether a promise that never rejects resolves within `ms`. A process that stalled meanwhile reads first what has
   * arrived.
   */
  #isSettledWithin(settled: Promise<unknown>, ms: number): Promise<boolean> {
    return withTimeout(settled, ms, this.#timing).then(
      () => true,
      () => false,
    )
  }
}
