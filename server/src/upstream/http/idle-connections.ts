import type { HttpConnection } from './connection'
import { systemClock, type Clock } from '../../platform/clock'
import { Periodic } from '../../platform/periodic'

const maxOfOneKey = 1024
const maxInAll = 4096
const sweepMs = 5000
/** A connection that is closed this soon after its first answer was never meant for a second one. */
const earlyMs = 1000
/** After this many early closes no connection is kept for a while; then one is tried again. */
const maxClosedEarly = 3
const distrustMs = 60_000
const maxClosers = 1000

/** A server that closes after each answer without announcing it. */
interface Closer {
  /** Connections that it closed early, none having served twice since. */
  count: number
  /** No connection is kept before this time; monotonic. */
  until: number
}

/** Keeps connections for the next request; the most recently used one is taken first. */
export class IdleConnections {
  readonly #byKey = new Map<string, HttpConnection[]>()
  readonly #closers = new Map<string, Closer>()
  #count = 0
  #sweeping: Periodic | undefined
  readonly #clock: Clock

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
  }

  /** Takes an idle connection that has not been closed, as far as is known. */
  take(key: string): HttpConnection | undefined {
    const idle = this.#byKey.get(key)
    if (!idle) return undefined
    const now = this.#clock.monotonicMs()
    for (let last = idle.pop(); last; last = idle.pop()) {
      this.#count -= 1
      if (isUsable(last, now)) {
        last.usedAtMs = now
        return last
      }
      last.close()
    }
    return undefined
  }

  put(connection: HttpConnection, keepMs: number): void {
    const now = this.#clock.monotonicMs()
    if (this.#closers.size > 0 && this.#isDistrusted(connection, now)) return connection.close()
    const idle = this.#ofKey(connection.key)
    if (idle.length >= maxOfOneKey || this.#count >= maxInAll) return connection.close()
    connection.idleSinceMs = now
    connection.idleUntilMs = now + keepMs
    idle.push(connection)
    this.#count += 1
    this.#sweeping ??= new Periodic({
      intervalMs: sweepMs,
      run: () => this.#sweep(),
      clock: this.#clock,
    })
  }

  /**
   * Counts a connection that its server closed without announcing it. Only a connection that was never reused reflects
   * the server's habits: a server that stops closes all of them.
   */
  countClosed({ key, exchanges, idleSinceMs }: HttpConnection): void {
    const now = this.#clock.monotonicMs()
    if (exchanges > 1 || now - idleSinceMs > earlyMs) return
    this.countClosedEarly(key, now)
  }

  /** Counts a connection that was closed as its second request was sent. */
  countClosedEarly(key: string, now = this.#clock.monotonicMs()): void {
    const count = (this.#closers.get(key)?.count ?? 0) + 1
    if (this.#closers.size >= maxClosers) this.#closers.clear()
    this.#closers.set(key, { count, until: count >= maxClosedEarly ? now + distrustMs : 0 })
  }

  #isDistrusted({ key, exchanges }: HttpConnection, now: number): boolean {
    const closer = this.#closers.get(key)
    if (!closer) return false
    if (exchanges === 1) return closer.until > now
    this.#closers.delete(key)
    return false
  }

  #ofKey(key: string): HttpConnection[] {
    const knownConnections = this.#byKey.get(key)
    if (knownConnections) return knownConnections
    const newConnections: HttpConnection[] = []
    this.#byKey.set(key, newConnections)
    return newConnections
  }

  /** Closes connections that stayed idle too long, and drops those already closed. */
  #sweep(): void {
    const now = this.#clock.monotonicMs()
    this.#count = 0
    for (const [key, idle] of this.#byKey) {
      const keptConnections: HttpConnection[] = []
      for (const one of idle) {
        if (isUsable(one, now)) keptConnections.push(one)
        else one.close()
      }
      if (keptConnections.length === 0) this.#byKey.delete(key)
      else this.#byKey.set(key, keptConnections)
      this.#count += keptConnections.length
    }
    if (this.#count > 0) return
    this.#sweeping?.stop()
    this.#sweeping = undefined
  }
}

const isUsable = ({ isOpen, idleUntilMs }: HttpConnection, nowMs: number): boolean =>
  isOpen && idleUntilMs > nowMs
