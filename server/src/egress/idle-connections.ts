import type { Connection } from './connection'

const mostOfOneKey = 1024
const mostInAll = 4096
const sweepMs = 5000

interface Idle {
  connection: Connection
  /** Monotonic. */
  until: number
}

/** Connections that wait for the next request; the one that waited least is used first. */
export class IdleConnections {
  readonly #byKey = new Map<string, Idle[]>()
  #count = 0
  #timer: ReturnType<typeof setInterval> | undefined

  /** One that has not been closed, as far as is known. */
  take(key: string): Connection | undefined {
    const idle = this.#byKey.get(key)
    if (!idle) return undefined
    const now = performance.now()
    for (let last = idle.pop(); last; last = idle.pop()) {
      this.#count -= 1
      const { connection, until } = last
      if (connection.isOpen && until > now) return connection
      connection.close()
    }
    return undefined
  }

  keep(connection: Connection, keepMs: number): void {
    const idle = this.#ofKey(connection.key)
    if (idle.length >= mostOfOneKey || this.#count >= mostInAll) return connection.close()
    idle.push({ connection, until: performance.now() + keepMs })
    this.#count += 1
    if (this.#timer) return
    this.#timer = setInterval(() => this.#sweep(), sweepMs)
    this.#timer.unref()
  }

  #ofKey(key: string): Idle[] {
    const known = this.#byKey.get(key)
    if (known) return known
    const made: Idle[] = []
    this.#byKey.set(key, made)
    return made
  }

  /** Closes what nobody needed in time, and forgets what has been closed. */
  #sweep(): void {
    const now = performance.now()
    this.#count = 0
    for (const [key, idle] of this.#byKey) {
      const kept: Idle[] = []
      for (const one of idle) {
        if (one.connection.isOpen && one.until > now) kept.push(one)
        else one.connection.close()
      }
      if (kept.length === 0) this.#byKey.delete(key)
      else this.#byKey.set(key, kept)
      this.#count += kept.length
    }
    if (this.#count > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
